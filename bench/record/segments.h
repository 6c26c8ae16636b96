/* Segments of an elastic accuracy run, in launches/<point>/seed1.segments.json beside its launches.
 * A JSON list with one object per start of ranks, over all launches of the run, in order:
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

/* Progress that the ranks of a segment report in the file `progress` of their folder; NAN:
 * unknown. */
struct attempt_progress {
    double resumed, steps, epoch;
    double first_step_s, last_step_s; /* end times of these steps */
};

/* One start of ranks. */
struct attempt {
    char launch[128]; /* folder, relative to the run's folder */
    int segment;      /* number in the plan, from 0 */
    int ranks, nodes;
    double begin_s, end_s; /* NAN: unknown */
    enum attempt_end end;
    char reason[512];
    struct attempt_progress progress;
};

struct segments {
    struct attempt *attempts;
    size_t n;
};

/* Formats "<run>/launches/1a2b3c4d5e6f/seed1.segments.json" for a launch's folder. ERR_ARGUMENT
 * if it is too long. */
enum status segments_path(char *path, size_t size, const char *launch_dir, struct error *e);

/* Reads the list; a missing file is an empty list. ERR_DATA if the file is not a list of
 * segments. Free with segments_free. */
enum status segments_read(struct segments *s, const char *path, struct error *e);
void segments_free(struct segments *s);

/* Appends an attempt, zeroed, with unknown times and progress. */
enum status segments_add(struct segments *s, struct attempt **added, struct error *e);

/* Replaces the file through a temporary one, and syncs it. */
enum status segments_write(const struct segments *s, const char *path, struct error *e);

/* Reads the progress in a launch's folder; all values are unknown if there is none. */
void attempt_progress_read(struct attempt_progress *progress, const char *dir);

/* Totals of an elastic run. */
struct segments_total {
    size_t restarts;   /* number of attempts that died */
    double lost_steps; /* number of steps that were repeated */
    double
        change_s; /* sum of planned pauses, from the last step of a segment to the first of the next */
    double recovery_s; /* sum of pauses from the last step before a death to the next step */
    double earlier_s;  /* time that ranks ran in launches before the last one */
};
void segments_sum(struct segments_total *total, const struct segments *s);

/* Return the number of steps that attempt i repeated, and the pause before its first step. The
 * pause begins with the last step before attempt i, or with the run if there was none. It ends
 * with the attempt if the attempt had no step left to do. NAN: unknown, or there is no earlier
 * attempt. */
double attempt_lost_steps(const struct segments *s, size_t i);
double attempt_pause_s(const struct segments *s, size_t i);
