/* Progress of a run. Anybody can read it at any time: nothing is locked or written. */
#pragma once

#include <stdbool.h>
#include <stdio.h>

#include "bench/record/journal.h"
#include "bench/runner/runs.h"
#include "bench/spec/spec.h"

enum run_state {
    RUN_UNREADABLE,  /* `why` has the reason */
    RUN_FINISHED,    /* everything that its spec asks for is done */
    RUN_INTERRUPTED, /* something is left, and no runner is at work */
    RUN_GOING,       /* a runner is at work */
};

struct run_status {
    struct run run;
    const char *repeats; /* borrowed: name of the first run with equal facts; NULL: this one */
    enum run_state state;
    char why[512];
    /* Points of the spec: their number and how many are in each state. The four states add up to
     * `points`. */
    size_t points, points_done, points_failed, points_skipped, points_left;
    size_t precise; /* points whose median of timed launches reaches the requested precision */
    /* Launches of these points: counted, failed (also before a retry), interrupted without an
     * end, and pending. */
    size_t done, failed, interrupted, left;
    double left_s;                /* estimated time left; NAN: unknown */
    bool at_most;                 /* left_s is an upper bound */
    size_t kept, kept_points;     /* launches, and their points, that the spec no longer has */
    size_t outdated;              /* launches of earlier versions of peers */
    char owner[512];              /* process, host and start of the runner; "": none */
    bool running;                 /* a launch is running: */
    struct journal_launch launch; /* the running launch */
    char label[128];              /* label of its point */
    double running_s;             /* time since it started */
};

/* Reads one run. An unreadable run becomes RUN_UNREADABLE; the only errors are lack of memory.
 * Free with run_status_free. */
enum status run_status_read(struct run_status *status, const char *run_dir,
                            const struct spec_machine *machine, struct error *e);
void run_status_free(struct run_status *status);

/* Returns "finished", "running" and so on. */
const char *run_state_name(enum run_state state);

void run_status_print(FILE *out, const struct run_status *status);
json_t *run_status_json(const struct run_status *status); /* NULL if there is no memory */
