/* Progress of a run. Any process can read it at any time: nothing is locked or written. */
#pragma once

#include <stdbool.h>
#include <stdio.h>

#include "bench/record/journal.h"
#include "bench/runner/runs.h"
#include "bench/spec/spec.h"

enum run_state {
    RUN_UNREADABLE,  /* the run cannot be read; `why` is the reason */
    RUN_FINISHED,    /* all launches that the run's spec requests are done */
    RUN_INTERRUPTED, /* launches remain, and no runner is alive */
    RUN_GOING,       /* a runner is alive */
};

struct run_status {
    struct run run;
    /* name of the oldest run with the same facts (bench/runner/facts.h) and points as this run,
     * borrowed; NULL: this run is the oldest, or other runs were not searched */
    const char *repeats;
    enum run_state state;
    char why[512];
    /* numbers of points in the spec: all, done, failed, skipped and pending */
    size_t points, points_done, points_failed, points_skipped, points_left;
    size_t precise; /* number of points as precise as measure.time.precision requires */
    /* numbers of launches of the spec's points. `done`: ended and not retried, including failures;
     * `failed`: failures, retried or not; `interrupted`: started, but neither ended nor running;
     * `left`: pending */
    size_t done, failed, interrupted, left;
    double left_s; /* estimated time of the remaining launches (s); NAN: unknown */
    bool at_most;  /* whether `left` (number of pending launches), and thus left_s, is an upper
                      bound */
    /* `kept`: number of ended launches of points that the spec no longer contains; `kept_points`:
     * number of these points */
    size_t kept, kept_points;
    /* number of ended launches that are not used, since they ran another version of a peer
     * program */
    size_t outdated;
    /* process, host and start of the runner; "": no runner is alive */
    char owner[512];
    bool running;                 /* whether a launch is running now */
    struct journal_launch launch; /* the running launch */
    /* label of the running launch's point, such as "ranks=2 allreduce" */
    char label[128];
    double running_s; /* time since the running launch started (s) */
};

/* Reads the progress of one run. If the run cannot be read, its state is RUN_UNREADABLE, without an
 * error. Errors: ERR_MEMORY. Free with run_status_free. */
enum status run_status_read(struct run_status *status, const char *run_dir,
                            const struct spec_machine *machine, struct error *e);
void run_status_free(struct run_status *status);

/* Returns the name of a state, such as "finished" or "running". */
const char *run_state_name(enum run_state state);

void run_status_print(FILE *out, const struct run_status *status);
/* Returns the status as JSON, freed with json_decref; NULL: no memory. */
json_t *run_status_json(const struct run_status *status);
