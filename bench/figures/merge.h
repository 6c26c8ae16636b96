/* Merges the points of several runs into one summary. Internal to bench/figures. */
#pragma once

#include "bench/collect/published.h"
#include "bench/figures/figure_data.h"
#include "bench/figures/figures.h"

/* Several runs as one spec and one summary. Texts, cells and options are borrowed from the runs. */
struct merged {
    struct spec spec; /* spec of the first run, with the points of all runs */
    /* points of all runs, run by run; each point's base and peer are points of its own run */
    struct summary s;
    struct published published; /* published values for the points of all runs; NAN for points
                                   without a published value */
    struct figure_run *runs;    /* [runs] folder and points of each run */
    char **differs;
};

/* Merges n runs. Call merged_free in any case. */
enum status merge_runs(struct merged *m, const struct figures_run *runs, size_t n, struct error *e);
void merged_free(struct merged *m);
