/* Numbers of one figure, as in series_<figure>.csv: the script draws them, and users may draw
 * them with other tools. Internal to bench/figures. */
#pragma once

#include "bench/collect/series.h"
#include "bench/figures/figure.h"
#include "bench/figures/prediction.h"
#include "bench/figures/spread.h"
#include "bench/figures/table.h"
#include "bench/spec/condition.h"

/* Largest numbers of curves and bars that a picture can show legibly. The series file has all. */
enum { FIGURE_CURVES_MAX = 36, FIGURE_BARS_MAX = 120 };

/* Name of a point's case in options of figures. */
#define FIGURE_CASE "case"
/* Name that makes each point a series, identified by its label. */
#define FIGURE_POINT "point"
/* Name of the run of a point, if a figure shows several runs. A curve belongs to one run unless
 * x is the run. In a figure of a single run it is a column of raw.csv. */
#define FIGURE_RUN "run"

/* A folder of tables; points [first, first + n) of the summary belong to it. */
struct figure_run {
    const char *dir;
    size_t first, n;
};

struct figure_data {
    const struct summary *s; /* borrowed */
    const struct spec *spec; /* spec of the summary */
    const struct figure *figure;
    struct figure own; /* storage of `figure` */
    const struct figure_run *runs;
    size_t n_runs;
    bool several;                    /* the figure shows several runs, each with a name */
    const struct quantity *quantity; /* first of `quantities` */
    struct quantity quantities[FIGURE_COLUMNS_MAX];
    char titles[FIGURE_COLUMNS_MAX][QUANTITY_TITLE], names[FIGURE_COLUMNS_MAX][QUANTITY_TITLE];
    size_t n_quantities;
    struct figure_x x;
    struct condition *where; /* NULL: all points are shown */
    bool *shown;             /* [points]: `where` does not exclude the point */
    /* [points]: the point itself, another point that it repeats, or NO_POINT */
    size_t *stands_for;
    bool repeats; /* some points repeat others */
    /* [points]: index in `series` before curves are chosen, or NO_POINT */
    size_t *series_of;
    struct figure_table table;    /* rows of figures over any x */
    struct measured *measured;    /* [points] */
    struct prediction prediction; /* empty if the figure shows no model */
    struct series_list series;    /* series of figures with curves, drawn ones first */
    size_t curves;                /* number of drawn curves */
    size_t values;                /* number of points with a value; over epochs: number of values */
    size_t published;             /* number of points with a published value */
    bool *bars;                   /* [points]: the point has a bar; NULL in figures without bars */
    size_t rows;                  /* number of bars */
    size_t left_out;              /* curves or bars with a value that do not fit */
    struct spread spread;         /* marks that are moved sideways */
};

/* Reads the CSV files of the runs as far as the figure needs them. Call figure_data_free in any
 * case. */
enum status figure_data_read(struct figure_data *d, const struct figure_request *request,
                             const struct summary *s, const struct figure_run *runs, size_t n_runs,
                             struct error *e);
void figure_data_free(struct figure_data *d);

/* Returns whether the figure shows properties of networks, which are defined and not measured. */
bool figure_is_of_networks(const struct figure_data *d);

/* Returns why there is nothing to draw, or NULL if there is a measured or published value. */
const char *figure_data_lack(const struct figure_data *d);

/* Returns the first base without a time although a point that refers to it has one; NULL if
 * there is none. */
const struct point_summary *figure_data_lacking_base(const struct figure_data *d);

/* Returns whether a shown point has no value and is not ok. */
bool figure_data_misses(const struct figure_data *d, size_t point);

/* Returns whether the point may have a bar. */
bool figure_data_has_bar(const struct figure_data *d, size_t point);

/* Return the predicted and the published value of a point; NAN if the figure shows none. */
double figure_data_model(const struct figure_data *d, const struct quantity *q, size_t point);
double figure_data_published(const struct figure_data *d, size_t point);

/* Internal: returns the name of the x column in the series file of a figure over any x; "" for
 * ranks, which all files have. */
const char *figure_x_column(const struct figure_data *d);

/* Internal: resolves the options of the figure before anything is read. ERR_SPEC with the place
 * in the spec. Call figure_data_free in any case. */
enum status figure_resolve(struct figure_data *d, const struct figure_request *request,
                           const struct spec *spec, bool several, struct error *e);
enum status figure_check_sources(struct figure_data *d, struct error *e);

/* Internal: looks up an option of a point_summary or a column of summary.csv, for conditions. */
bool figure_point_value(struct condition_value *value, const char *name, const void *point);
/* Returns whether the name always refers to points, even if a file has a column of this name:
 * case, and run in figures of several runs. */
bool figure_is_of_points(const struct figure_data *d, const char *name);
/* Returns whether `where` uses this name. */
bool figure_where_names(const struct figure_data *d, const char *name);
/* Returns x of a point as text. */
const char *figure_x_text(const struct figure_data *d, size_t point);
/* Finds points at one place of a series, and points that repeat another; figure_join_repetitions
 * then replaces repeated values by their median. ERR_SPEC if points at one place differ in more
 * than the seed. */
enum status figure_settle_places(struct figure_data *d, struct error *e);
enum status figure_join_repetitions(struct figure_data *d, struct error *e);
/* Returns ERR_SPEC with a message that `n` points of a series have the same x. */
enum status figure_refuse_place(const struct figure_data *d, const char *series, const char *x,
                                const size_t *points, size_t n, struct error *e);
/* Checks a figure before anything is run. ERR_SPEC with the place in the spec. */
enum status figure_check(const struct figure_request *request, const struct summary *s,
                         struct error *e);
/* Reads the values of points from the tables of all runs into d->measured. */
enum status figure_measure_points(struct figure_data *d, const struct quantity *quantity,
                                  struct error *e);

/* Writes dots_<figure>.csv: the single launches behind the values of a figure, drawn as faint dots
 * behind each median. It has one row per launch, in the order of the series file:
 *
 *   curve, name, point, label, ranks   as in series_<figure>.csv; curve is empty if not drawn
 *   block, seed                        of the launch, in figures of points
 *   x, y                               in figures over any x: x, and the name of the value's column
 *   nth, n                             number of the launch among the point's n launches, from 1
 *   value                              in the unit of the figure; for speed-up and efficiency the
 *                                      ratio to the base's launch in the same block */
enum status dots_write(FILE *out, const struct figure_data *d, struct error *e);
/* Returns whether the figure's quantity has one value per launch, and its shape draws them. */
bool dots_exist(const struct figure_data *d);

/* Internal: write parts of a row. A number follows a comma. A bar begins with its place, from 1;
 * empty if not drawn. */
void figure_write_number(FILE *out, double x);
void figure_begin_bar(FILE *out, size_t row, const struct point_summary *p);
