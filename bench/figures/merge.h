/* Points of several runs as those of one summary. Internal to bench/figures. */
#pragma once

#include "bench/collect/published.h"
#include "bench/figures/figure_data.h"
#include "bench/figures/figures.h"

/* Texts, cells and options are those of the runs, which outlive it. */
struct merged {
    struct spec spec;           /* the first one's, with the points of all */
    struct summary s;           /* in their order; bases, peers and partners are of the same run */
    struct published published; /* columns of all; NAN where a run withholds its own */
    struct figure_run *runs;    /* which points are whose */
    char **differs;
};

/* Freed with merged_free in any case. */
enum status merge_runs(struct merged *m, const struct figures_run *runs, size_t n, struct error *e);
void merged_free(struct merged *m);
