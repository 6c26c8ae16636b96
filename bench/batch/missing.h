/* Missing launches of a campaign, by number of nodes. */
#pragma once

#include <stddef.h>

#include "bench/spec/spec.h"
#include "kernels/base/error.h"

/* Numbers of nodes of points that lack launches, ascending, without repeats. A base whose
 * missing launches will run beside larger points is left out. */
struct missing {
    long *nodes;
    size_t n;
    const struct point *
        too_large; /* first such point with more threads than a node has cores, which is not listed; NULL: none */
};

/* Reads the journal of the campaign's latest run below `out`; without a run, all launches are
 * missing. `machine` gives the cores of a node. Call missing_free afterwards, also after an
 * error. */
enum status missing_find(struct missing *m, const struct spec *spec,
                         const struct spec_machine *machine, const char *out, struct error *e);
void missing_free(struct missing *m);
