/* The segments of an elastic accuracy run, kept beside its launches, launches/<point>/seed1.segments.json: a list of
 * objects, one for each time that ranks were started for it, in order, by whatever launch of the run.
 *
 *   [{"launch": "launches/1a2b3c4d5e6f/seed1-000", "segment": 0, "ranks": 2, "nodes": 1,
 *     "begin_s": 1764000000.1, "end": "died", "reason": "rank 1 ...", "end_s": 1764000009.2,
 *     "resumed": 0, "steps": 57, "epoch": 2, "first_step_s": 1764000001.0, "last_step_s": 1764000009.0}, ...]
 *
 * Times are seconds since 1970; what is unknown is left out. `end` is done, died, stopped (the campaign was
 * interrupted) or, of one that runs or whose runner was killed, running. */
#pragma once

#include <stddef.h>

#include "kernels/base/error.h"

enum attempt_end { ATTEMPT_RUNNING, ATTEMPT_DONE, ATTEMPT_DIED, ATTEMPT_STOPPED, ATTEMPT_ENDS };
extern const char *const attempt_ends[ATTEMPT_ENDS];

/* What a segment's ranks have told: the file `progress` of their folder. Unknown numbers are NAN. */
struct attempt_progress {
    double resumed, steps, epoch;
    double first_step_s, last_step_s; /* when these ended */
};

/* Ranks that were started once. */
struct attempt {
    char launch[128]; /* folder, relative to the run's */
    int segment;      /* of the plan, from 0 */
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

/* "<run>/launches/1a2b3c4d5e6f/seed1.segments.json" of a launch's folder; ERR_ARGUMENT when it is too
 * long. */
enum status segments_path(char *path, size_t size, const char *launch_dir, struct error *e);

/* None where there is no file. ERR_DATA where it is not one of these. Freed with segments_free. */
enum status segments_read(struct segments *s, const char *path, struct error *e);
void segments_free(struct segments *s);

/* Adds one at the end, zeroed but for its numbers, which are unknown. */
enum status segments_add(struct segments *s, struct attempt **added, struct error *e);

/* Replaces the file by way of a temporary one, on the disk when this returns. */
enum status segments_write(const struct segments *s, const char *path, struct error *e);

/* Of a launch's folder; all unknown where nothing was told. */
void attempt_progress_read(struct attempt_progress *progress, const char *dir);

/* What a whole run comes to. Unknown numbers are NAN. */
struct segments_total {
    size_t restarts;   /* attempts that died */
    double lost_steps; /* that were done and had to be done again */
    double
        change_s; /* from the last step of a segment to the first of the next, by plan; summed up */
    double recovery_s; /* from the last step before a death to the first after it; summed up */
    double earlier_s;  /* how long ranks ran that launches before the last one had started */
};
void segments_sum(struct segments_total *total, const struct segments *s);

/* Of the i-th attempt, which follows another: steps that it had to do again, and the time from the last step
 * before it, or where there was none the begin of those who died, to its first one, or where it had none to do to
 * its end. NAN: unknown, or it follows none. */
double attempt_lost_steps(const struct segments *s, size_t i);
double attempt_pause_s(const struct segments *s, size_t i);
