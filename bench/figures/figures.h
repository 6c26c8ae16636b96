/* The figures of a run. */
#pragma once

#include "bench/collect/collect.h"

/* Finds fault with what the spec's figures name, before anything runs; ERR_SPEC with the place. */
enum status figures_check(const struct spec *spec, struct error *e);

/* Refuses own options and metrics that are named like a column; ERR_SPEC with the place. Runs of earlier versions may
 * have such names, so that reading a run does not check them. */
enum status figures_check_names(const struct spec *spec, struct error *e);

/* The columns of series_<figure>.csv and of dots_<figure>.csv, but for those that x and y name. */
const struct column *figures_series_columns(size_t *n);
const struct column *figures_dots_columns(size_t *n);
/* "time_ms" of time_ms_lo, "Lower end of the confidence interval": what such a column of a line's series is, of y without
 * its ending, in `stem`; NULL: the name has no such ending. */
enum { FIGURES_STEM = 128 };
const char *figures_explain_ending(char stem[FIGURES_STEM], const char *column);

/* Draws the spec's figures with gnuplot: <run>/<figure>.svg and .png, and .pdf where gnuplot has
 * it. Their numbers are those of the run's CSV files, which have to be there; what a figure shows
 * of them is left beside it as series_<figure>.csv. `plots_dir` holds the scripts. */
enum status figures_draw(const struct summary *s, const char *run_dir, const char *plots_dir,
                         struct error *e);

/* The same, but into the folder `out`, the run being left as it is; and beside each figure <figure>.gp, by
 * which gnuplot alone draws it again from there, where a copy of `plots_dir` lies beside the folder as
 * plots/. */
enum status figures_draw_apart(const struct summary *s, const char *run_dir, const char *out,
                               const char *plots_dir, struct error *e);

/* Likewise into `out`, for a page: of the pictures <figure>.svg alone, and nothing to draw them again. */
enum status figures_draw_page(const struct summary *s, const char *run_dir, const char *out,
                              const char *plots_dir, struct error *e);

/* One of the runs that share figures. Everything is borrowed. */
struct figures_run {
    const struct summary *s; /* of its own spec */
    const char *dir;         /* where its CSV files are */
    const char *name;        /* what tells it from the others in legends; NULL: it is alone */
};

/* Finds fault with the figures of the first run's spec over all of them, before anything is written. */
enum status figures_check_runs(const struct figures_run *runs, size_t n, struct error *e);

/* Draws the figures of the first run's spec over the points of all of them, likewise, into the folder
 * `out`. Nothing joins points of two runs, and each keeps its own base; the model of time is left
 * out. */
enum status figures_draw_runs(const struct figures_run *runs, size_t n, const char *out,
                              const char *plots_dir, struct error *e);

/* A figure of a sweep: of rows of one part in a table, those with a value above 0 in a column. */
struct sweep_figure {
    const char *table, *part, *column, *figure, *script;
    const char *caption;
};
const struct sweep_figure *figures_of_sweeps(size_t *n);

/* ERR_ARGUMENT where sweeps have no table of this name with figures. */
enum status figures_check_sweep(const char *table, struct error *e);
/* The figures of a sweep's table in `folder`, comm.csv or kernels.csv, into the folder `to`; prints their paths to `out`.
 * What the table has no rows for is removed. */
enum status figures_draw_sweep(const char *folder, const char *table, const char *to,
                               const char *plots_dir, FILE *out, struct error *e);

/* Likewise for a page: <figure>.svg alone, and nothing is printed. */
enum status figures_draw_sweep_page(const char *folder, const char *table, const char *to,
                                    const char *plots_dir, struct error *e);

/* Reads the coefficients of the model that the spec names, to find fault with them early. */
enum status prediction_check(const struct spec *spec, struct error *e);
