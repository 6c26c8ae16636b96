/* Draws the figures of runs and sweeps with gnuplot, from their CSV files. */
#pragma once

#include "bench/collect/collect.h"

/* Checks the spec's figures before a campaign runs. ERR_SPEC with file and line of the spec. */
enum status figures_check(const struct spec *spec, struct error *e);

/* Rejects user-defined options and metrics that have the name of a column. ERR_SPEC with file and
 * line of the spec. Names in existing runs are not checked, because earlier versions allowed such
 * names. */
enum status figures_check_names(const struct spec *spec, struct error *e);

/* Columns of series_<figure>.csv and of dots_<figure>.csv, without the columns named after the
 * figure's x and y. */
extern const struct csv_file figures_series, figures_dots;
/* figures_explain_ending explains the ending of a column in a line figure's series file, such as
 * time_ms_lo. Writes the name without the ending to `stem`. Returns a sentence, here "Lower bound
 * of the confidence interval of the value."; NULL: no such ending. */
enum { FIGURES_STEM = 128 };
const char *figures_explain_ending(char stem[FIGURES_STEM], const char *column);

/* A run whose figures are drawn. All members are borrowed. */
struct figures_run {
    const struct summary *s; /* summary of the run, with the run's own spec */
    const char *dir;         /* folder of the run's CSV files */
    const char *name;        /* name of the run in legends; NULL for a single run */
};

/* Checks the figures of the first run's spec against the points of all n runs. Writes nothing. */
enum status figures_check_runs(const struct figures_run *runs, size_t n, struct error *e);

/* Files to draw for each figure. FIGURES_PICTURES: .svg, .png, and .pdf if gnuplot supports it.
 * FIGURES_WITH_SCRIPTS: these pictures and <figure>.gp, a gnuplot script that draws the figure
 * again. The script needs a copy of the folder of gnuplot scripts at ../plots. FIGURES_FOR_PAGE:
 * .svg only. */
enum figures_files { FIGURES_PICTURES, FIGURES_WITH_SCRIPTS, FIGURES_FOR_PAGE };

/* Draws the figures of the first run's spec into folder `out`, over the points of all n runs, from
 * the runs' CSV files. plots_dir: folder of the gnuplot scripts. Writes the shown numbers to
 * series_<figure>.csv. Curves mix runs only if x is the run. Points are compared with the base of
 * their own run. With several runs, no times are predicted. */
enum status figures_draw(const struct figures_run *runs, size_t n, const char *out,
                         const char *plots_dir, enum figures_files files, struct error *e);

/* A figure of a sweep, drawn from the rows of `table` that have the text `part` in column "part"
 * and a positive number in the column named `column`. */
struct sweep_figure {
    const char *table, *part, *column, *figure, *script;
    const char *caption;
};
const struct sweep_figure *figures_of_sweeps(size_t *n);

/* Checks the name of a sweep's table. ERR_ARGUMENT if no table of this name has figures. */
enum status figures_check_sweep(const char *table, struct error *e);
/* Draws the figures of the sweep in `folder`, from its table `table`, into folder `to`. Prints the
 * paths of the pictures to `out` unless `out` is NULL. Removes pictures for which the table has no
 * rows. */
enum status figures_draw_sweep(const char *folder, const char *table, const char *to,
                               const char *plots_dir, enum figures_files files, FILE *out,
                               struct error *e);

/* Checks, before a run, the file of link coefficients that the spec's option `link` names. Returns
 * OK if the option is none or auto; ERR_SPEC if the file is not a link.csv. */
enum status prediction_check(const struct spec *spec, struct error *e);
