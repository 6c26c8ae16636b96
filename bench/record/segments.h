/* Attempts of an elastic accuracy run, which changes its number of ranks between segments. The file
 * launches/<point>/seed1.segments.json is a JSON list with one object per attempt (one start of the
 * ranks), in the order of starts:
 *
 *   [{"launch": "launches/1a2b3c4d5e6f/seed1-000", "segment": 0, "ranks": 2, "nodes": 1,
 *     "begin_s": 1764000000.1, "end": "died", "reason": "rank 1 ...", "end_s": 1764000009.2,
 *     "resumed": 0, "steps": 57, "epoch": 2, "first_step_s": 1764000001.0, "last_step_s": 1764000009.0}, ...]
 *
 * Times are seconds since 1970; unknown values are left out. `end` is done, died, stopped (the
 * campaign was interrupted) or running (also if the runner was killed). */
#pragma once

#include <stddef.h>

#include "kernels/base/error.h"

enum attempt_end { ATTEMPT_RUNNING, ATTEMPT_DONE, ATTEMPT_DIED, ATTEMPT_STOPPED, ATTEMPT_ENDS };
extern const char *const attempt_ends[ATTEMPT_ENDS];

/* Progress that the ranks of an attempt report in the file `progress` of the launch's folder; NAN:
 * unknown. */
struct attempt_progress {
    double resumed, steps, epoch;
    double first_step_s, last_step_s; /* times (seconds since 1970) at which the attempt's first and
                                         last step ended */
};

/* One start of the ranks for a segment. A segment consists of the epochs between two planned
 * changes of the number of ranks. */
struct attempt {
    char launch[128]; /* folder of the launch, relative to the run's folder */
    int segment;      /* number of the segment in option `elastic`, from 0 */
    int ranks, nodes;
    double begin_s, end_s; /* seconds since 1970; NAN: unknown */
    enum attempt_end end;
    char reason[512];
    struct attempt_progress progress;
};

struct segments {
    struct attempt *attempts;
    size_t n;
};

/* Formats the path of the segments file of a launch. The folder "launches/1a2b3c4d5e6f/seed1-000"
 * gives "launches/1a2b3c4d5e6f/seed1.segments.json". ERR_ARGUMENT if the path is too long. */
enum status segments_path(char *path, size_t size, const char *launch_dir, struct error *e);

/* Reads the list of attempts; a missing file is an empty list. ERR_DATA if the file is not such a
 * list. Free with segments_free. */
enum status segments_read(struct segments *s, const char *path, struct error *e);
void segments_free(struct segments *s);

/* Appends an attempt: times and progress are NAN (unknown), all other members 0. *added points to
 * the attempt until the next call of segments_add. */
enum status segments_add(struct segments *s, struct attempt **added, struct error *e);

/* Writes the list to a temporary file, syncs it and renames it to `path`. */
enum status segments_write(const struct segments *s, const char *path, struct error *e);

/* Reads the file `progress` in a launch's folder; without this file, all values are unknown. */
void attempt_progress_read(struct attempt_progress *progress, const char *dir);

/* Totals of an elastic run. */
struct segments_total {
    size_t restarts;   /* number of attempts that ended because ranks died */
    double lost_steps; /* number of steps repeated because no checkpoint contained them */
    /* sum of planned pauses (s): from the last step of a segment to the first step of the
     * next */
    double change_s;
    /* sum of pauses after ranks died (s). A pause lasts from the end of the last step before the
     * failure to the end of the first step after it */
    double recovery_s;
    double earlier_s; /* total duration of the attempts in launches before the last launch (s) */
};
void segments_sum(struct segments_total *total, const struct segments *s);

/* attempt_lost_steps returns the number of steps that attempt i repeated. attempt_pause_s returns
 * the pause (s) from the last step before attempt i to the first step of attempt i. Without an
 * earlier step, the pause begins with the first attempt. If attempt i completed no step, the pause
 * ends with attempt i. Both functions return NAN if the result is unknown or i is 0. */
double attempt_lost_steps(const struct segments *s, size_t i);
double attempt_pause_s(const struct segments *s, size_t i);
