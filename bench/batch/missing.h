/* Finds the job sizes (numbers of nodes) that a campaign's missing launches need. */
#pragma once

#include <stddef.h>

#include "bench/spec/spec.h"
#include "kernels/base/error.h"

/* `nodes` [n]: job sizes (numbers of nodes) that the missing launches need, distinct and ascending;
 * owned. A base point adds no size if jobs on more nodes will run all its missing launches. n is 0
 * if no missing launch needs a job, or if every requested point needs more cores per node than a
 * node has and may not oversubscribe them. */
struct missing {
    long *nodes;
    size_t n;
    size_t simulated; /* number of simulated points that lack launches; they need no job */
    /* first point that lacks launches but fits no job, since it needs more cores per node than a
     * node has and may not oversubscribe them. Such points add no job size to `nodes`. NULL:
     * none */
    const struct point *too_large;
};

/* Fills *m from the journal of the campaign's latest run below `out`. Without a run, all launches
 * are missing. The caller sets machine->usable_cores, the cores of each node. Call missing_free
 * afterwards, even after an error. */
enum status missing_find(struct missing *m, const struct spec *spec,
                         const struct spec_machine *machine, const char *out, struct error *e);
void missing_free(struct missing *m);

/* Returns the number of cores that a point needs on a node; 0 if the point is simulated. Emulated
 * hosts share one node, which needs cores for all ranks. */
long missing_cores(const struct point *point);
