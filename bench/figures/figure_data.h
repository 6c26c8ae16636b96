/* Numbers of one figure, as written to series_<figure>.csv. A gnuplot script draws that file, and
 * users may draw it with other tools. Internal to bench/figures. */
#pragma once

#include "bench/collect/series.h"
#include "bench/figures/figure.h"
#include "bench/figures/prediction.h"
#include "bench/figures/spread.h"
#include "bench/figures/table.h"
#include "bench/spec/condition.h"

/* Largest numbers of curves and bars that a picture can show legibly. The series file has all
 * curves and bars. */
enum { FIGURE_CURVES_MAX = 36, FIGURE_BARS_MAX = 120 };

/* Name by which the figure options `x`, `series` and `where` refer to a point's case. */
#define FIGURE_CASE "case"
/* Value of the figure option `series`: each point becomes a series of its own, named by the point's
 * label. Applies only if x is a column. */
#define FIGURE_POINT "point"
/* The name `run` in options of figures. In a figure of several runs, it is the run of a point; a
 * curve has points of several runs only if x is `run`. In a figure of one run, it is the column
 * `run` of raw.csv or resources.csv: the kind of launch (time or accuracy). */
#define FIGURE_RUN "run"

/* One run of the figure: folder of its CSV files, and its points [first, first + n) of the
 * summary. */
struct figure_run {
    const char *dir;
    size_t first, n;
};

struct figure_data {
    const struct summary *s; /* points of all runs; borrowed */
    const struct spec *spec; /* spec of the summary */
    const struct figure *figure;
    struct figure own; /* figure that `figure` points to */
    const struct figure_run *runs;
    size_t n_runs;
    bool several;                    /* whether the figure shows several named runs */
    const struct quantity *quantity; /* first of `quantities` */
    struct quantity quantities[FIGURE_COLUMNS_MAX];
    char titles[FIGURE_COLUMNS_MAX][QUANTITY_TITLE], names[FIGURE_COLUMNS_MAX][QUANTITY_TITLE];
    size_t n_quantities;
    struct figure_x x;
    struct condition *where; /* condition that selects points; NULL: all points */
    bool *shown;             /* [points] whether the figure shows the point */
    /* [points] the point's own index; for a point that repeats an earlier point, the earlier
     * point's index; NO_POINT for a point that keep_own (figure_places.c) drops */
    size_t *stands_for;
    bool repeats; /* whether some point repeats an earlier point of the same series, with all
                     options equal except perhaps the seed */
    /* [points] index that the point's series had before choose_curves (figure_data.c) reordered
     * `series`; NO_POINT: no series */
    size_t *series_of;
    struct figure_table table; /* rows to draw; used only by shapes with any_x, in which the user
                                  can choose x */
    struct measured *measured; /* [points] value and interval of each point */
    /* step times that the model predicts; empty if the figure shows none */
    struct prediction prediction;
    struct series_list series; /* one series per possible curve; the first `curves` of them are
                                  drawn. Figures whose x axis the user can choose (any_x) draw the
                                  curves in `table` instead */
    size_t curves;             /* number of drawn curves */
    size_t values;    /* number of measured values of the points in the figure; in shapes with any_x
                         (figure.h), of all rows of `table` */
    size_t published; /* number of published values of the points that the figure can show; if the
                         user can choose x (any_x), of all rows of `table` */
    bool *bars;       /* [points] whether the point's bar is drawn; NULL in figures without bars */
    size_t rows;      /* number of drawn bars */
    size_t left_out;  /* number of curves or bars that have a value but do not fit */
    struct spread spread; /* marks that would overlap and are moved sideways */
};

/* Reads the CSV files that the figure needs from each run. Call figure_data_free in any case. */
enum status figure_data_read(struct figure_data *d, const struct figure_request *request,
                             const struct summary *s, const struct figure_run *runs, size_t n_runs,
                             struct error *e);
void figure_data_free(struct figure_data *d);

/* Returns whether the figure shows only unmeasured properties of networks, such as FLOPs per
 * layer. */
bool figure_is_of_networks(const struct figure_data *d);

/* Returns the reason why there is nothing to draw; NULL if there is a measured or published
 * value. */
const char *figure_data_lack(const struct figure_data *d);

/* Finds the first point that has a step time but whose base has none. Returns the base; NULL if
 * there is no such point. */
const struct point_summary *figure_data_lacking_base(const struct figure_data *d);

/* Returns whether the point is shown, has no value, and has a status other than ok. */
bool figure_data_misses(const struct figure_data *d, size_t point);

/* Returns whether a figure of bars can show the point. */
bool figure_data_has_bar(const struct figure_data *d, size_t point);

/* figure_data_model returns a point's value by the model or, with option law, by the fitted law.
 * figure_data_published returns a point's published value. NAN: not shown. */
double figure_data_model(const struct figure_data *d, const struct quantity *q, size_t point);
double figure_data_published(const struct figure_data *d, size_t point);

/* Internal: looks up the names in the figure's options, before any CSV file is read. ERR_SPEC with
 * file and line of the spec. Call figure_data_free in any case. */
enum status figure_resolve(struct figure_data *d, const struct figure_request *request,
                           const struct spec *spec, bool several, struct error *e);
enum status figure_check_sources(struct figure_data *d, struct error *e);

/* Internal callback of type condition_lookup. Sets *value to the value of `name` at a point (struct
 * point_summary): an option, `case`, `run` or a column of summary.csv. Returns false for other
 * names. */
bool figure_point_value(struct condition_value *value, const char *name, const void *point);
/* Returns whether a name always means a property of points, even if a file has a column of this
 * name. True for `case` and, in figures of several runs, for `run`. */
bool figure_is_of_points(const struct figure_data *d, const char *name);
/* Returns whether the figure's option `where` uses this name. */
bool figure_where_names(const struct figure_data *d, const char *name);
/* Returns the point's value of x as text. */
const char *figure_x_text(const struct figure_data *d, size_t point);
/* If option `series` is set and the figure has no bars, figure_settle_places searches each series
 * for points at the same x. Points that differ only in the seed are repetitions;
 * figure_join_repetitions later takes their median. Unrequested points (such as added base points)
 * at the x of a requested point are dropped. ERR_SPEC if the remaining points at one x differ in
 * other options. If x is a column, no points are dropped, and this error may occur only later, when
 * rows are read. */
enum status figure_settle_places(struct figure_data *d, struct error *e);
enum status figure_join_repetitions(struct figure_data *d, struct error *e);
/* Returns ERR_SPEC with a message: `n` points of series `series` have the same x. */
enum status figure_refuse_place(const struct figure_data *d, const char *series, const char *x,
                                const size_t *points, size_t n, struct error *e);
/* Checks a figure before a campaign runs or pictures are drawn. ERR_SPEC with file and line of the
 * spec. */
enum status figure_check(const struct figure_request *request, const struct summary *s,
                         struct error *e);
/* Sets d->measured to the value of `quantity` at each point. If quantity->source is SOURCE_POINTS,
 * the values come from the summary, otherwise from raw.csv of each run. */
enum status figure_measure_points(struct figure_data *d, const struct quantity *quantity,
                                  struct error *e);

/* Writes dots_<figure>.csv: the launches behind the medians of a figure, one row per launch,
 * in the order of the series file. The figure shows each row as a faint dot unless `curve` is
 * empty.
 *
 *   curve, name, point, label, ranks   as in series_<figure>.csv
 *   block, seed                        only if any_x (figure.h) is false: block and seed of the
 *                                      launch
 *   x, y                               only if any_x is true: value of x, and name of the column
 *                                      that `value` belongs to
 *   nth                                number of the launch, 1 to n
 *   n                                  number of launches behind the median
 *   value                              value of the launch in the unit of the figure; for speed-up
 *                                      and efficiency the ratio to the base's launch in the same
 *                                      block */
enum status dots_write(FILE *out, void *figure_data, struct error *e);
/* Returns whether the figure draws single launches as dots. With a shape whose x the user can
 * choose (any_x), the table must have dots. With other shapes, the quantity must have one value per
 * launch, and the shape must support dots. */
bool dots_exist(const struct figure_data *d);

/* Internal: write fields of a CSV row. figure_write_number writes a comma and the number.
 * figure_begin_bar writes the first fields of a bar's row: the bar's number `row`, counted from 1,
 * then the identity and status of point `p`. If `row` is 0, the bar is not drawn and its number is
 * left empty. */
void figure_write_number(FILE *out, double x);
void figure_begin_bar(FILE *out, size_t row, const struct point_summary *p);
