/* Merges the points of several runs into one summary. Internal to bench/figures. */
#pragma once

#include "bench/collect/published.h"
#include "bench/figures/figure_data.h"
#include "bench/figures/figures.h"

/* Merged runs. Texts, cells and options are borrowed from the runs. */
struct merged {
    struct spec spec; /* spec of the first run, with the points of all runs */
    /* points in the order of runs; bases, peers and partners are in the same run */
    struct summary s;
    struct published published; /* columns of all runs; NAN if a run withholds its value */
    struct figure_run *runs;    /* points of each run */
    char **differs;
};

/* Merges n runs. Call merged_free in any case. */
enum status merge_runs(struct merged *m, const struct figures_run *runs, size_t n, struct error *e);
void merged_free(struct merged *m);
