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

/* A run whose figures are drawn. Everything is borrowed. */
struct figures_run {
    const struct summary *s; /* of its own spec */
    const char *dir;         /* where its CSV files are */
    const char *name;        /* what tells it from the others in legends; NULL: it is alone */
};

/* Finds fault with the figures of the first run's spec over all of them, before anything is written. */
enum status figures_check_runs(const struct figures_run *runs, size_t n, struct error *e);

/* What is drawn of a figure: <figure>.svg and .png, and .pdf where gnuplot has it; besides <figure>.gp, by which gnuplot
 * alone draws it again where a copy of `plots_dir` lies beside the folder as plots/; or for a page <figure>.svg alone. */
enum figures_files { FIGURES_PICTURES, FIGURES_WITH_SCRIPTS, FIGURES_FOR_PAGE };

/* Draws the figures of the first run's spec with gnuplot into the folder `out`, over the points of all n runs. Their
 * numbers are those of the runs' CSV files, which have to be there; what a figure shows of them is left beside it as
 * series_<figure>.csv. `plots_dir` holds the scripts. Nothing joins points of two runs, and each keeps its own base; of
 * several the model of time is left out. */
enum status figures_draw(const struct figures_run *runs, size_t n, const char *out,
                         const char *plots_dir, enum figures_files files, struct error *e);

/* A figure of a sweep: of rows of one part in a table, those with a value above 0 in a column. */
struct sweep_figure {
    const char *table, *part, *column, *figure, *script;
    const char *caption;
};
const struct sweep_figure *figures_of_sweeps(size_t *n);

/* ERR_ARGUMENT where sweeps have no table of this name with figures. */
enum status figures_check_sweep(const char *table, struct error *e);
/* The figures of a sweep's table in `folder`, comm.csv or kernels.csv, into the folder `to`; prints their paths to `out`
 * unless that is NULL. What the table has no rows for is removed. */
enum status figures_draw_sweep(const char *folder, const char *table, const char *to,
                               const char *plots_dir, enum figures_files files, FILE *out,
                               struct error *e);

/* Reads the coefficients of the model that the spec names, to find fault with them early. */
enum status prediction_check(const struct spec *spec, struct error *e);
