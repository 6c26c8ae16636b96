/* How a run stands, read by anybody at any time: nothing is locked, nothing written. */
#pragma once

#include <stdbool.h>
#include <stdio.h>

#include "bench/record/journal.h"
#include "bench/runner/runs.h"
#include "bench/spec/spec.h"

enum run_state {
    RUN_UNREADABLE,  /* `why` says why */
    RUN_FINISHED,    /* all that its spec asks for is done */
    RUN_INTERRUPTED, /* something is left, and nobody is at it */
    RUN_GOING,       /* a runner is at it */
};

struct run_status {
    struct run run;
    const char *repeats; /* borrowed: name of the first run with the same facts; NULL: it is none */
    enum run_state state;
    char why[512];
    /* Points of the spec: together all of them. */
    size_t points, points_done, points_failed, points_skipped, points_left;
    size_t precise; /* of which the median of timed launches is as precise as was asked for */
    /* Launches of these points that ended and count; those that failed, also before they were tried again; those
     * without an end that nobody runs; those to come. */
    size_t done, failed, interrupted, left;
    double left_s;                /* NAN: unknown */
    bool at_most;                 /* so many at most */
    size_t kept, kept_points;     /* launches of points that the spec does not have */
    size_t outdated;              /* of peers that are not what they were then */
    char owner[512];              /* process, host and start of its runner; "": none */
    bool running;                 /* a launch is: */
    struct journal_launch launch; /* this one */
    char label[128];              /* of its point */
    double running_s;             /* since when */
};

/* Reads one run. What cannot be read is RUN_UNREADABLE; errors are of memory alone. Freed with
 * run_status_free. */
enum status run_status_read(struct run_status *status, const char *run_dir,
                            const struct spec_machine *machine, struct error *e);
void run_status_free(struct run_status *status);

/* "finished", "running" ... */
const char *run_state_name(enum run_state state);

void run_status_print(FILE *out, const struct run_status *status);
json_t *run_status_json(const struct run_status *status); /* NULL: no memory */
