/* The numbers behind one figure, as series_<figure>.csv: what its script draws, and what a user may
 * draw anew with tools of his own. Internal to bench/figures. */
#pragma once

#include "bench/collect/series.h"
#include "bench/figures/figure.h"
#include "bench/figures/prediction.h"
#include "bench/figures/spread.h"
#include "bench/figures/table.h"
#include "bench/spec/condition.h"

/* More of them nobody tells apart, and no picture holds; the series file has all. */
enum { FIGURE_CURVES_MAX = 36, FIGURE_BARS_MAX = 120 };

/* What options of figures call the case of a point. */
#define FIGURE_CASE "case"
/* And each point by itself, by its label. */
#define FIGURE_POINT "point"
/* And which of several runs it is of: a curve is of one run, unless x is the run. Of a single run it is no
 * more than a column of raw.csv. */
#define FIGURE_RUN "run"

/* A folder of tables, and which points of the summary are its own. */
struct figure_run {
    const char *dir;
    size_t first, n;
};

struct figure_data {
    const struct summary *s; /* borrowed */
    const struct spec *spec; /* its own */
    const struct figure *figure;
    struct figure own; /* it */
    const struct figure_run *runs;
    size_t n_runs;
    bool several;                    /* runs, each with a name of its own */
    const struct quantity *quantity; /* the first of those it shows */
    struct quantity quantities[FIGURE_COLUMNS_MAX];
    char titles[FIGURE_COLUMNS_MAX][QUANTITY_TITLE], names[FIGURE_COLUMNS_MAX][QUANTITY_TITLE];
    size_t n_quantities;
    struct figure_x x;
    struct condition *where;   /* NULL: nothing is left out */
    bool *shown;               /* one a point: `where` has nothing against it */
    size_t *stands_for;        /* one a point: itself; another one that it repeats, or NO_POINT */
    bool repeats;              /* some do */
    size_t *series_of;         /* one a point: of those below before they are chosen, or NO_POINT */
    struct figure_table table; /* of figures over anything */
    struct measured *measured; /* one a point */
    struct prediction prediction; /* of figures that show one */
    struct series_list series;    /* of figures with curves: first those that are drawn */
    size_t curves;                /* of them that are drawn */
    size_t values;                /* points with a value; of figures over epochs: their values */
    size_t published;             /* points with a published value */
    bool *bars;                   /* of a figure that has a bar a point: which of them have one */
    size_t rows;                  /* bars */
    size_t left_out;              /* curves or bars with a value that are too many to be drawn */
    struct spread spread;         /* marks that are drawn beside each other */
};

/* Reads the CSV files of the runs as far as the figure needs them. Freed with figure_data_free in
 * any case. */
enum status figure_data_read(struct figure_data *d, const struct figure_request *request,
                             const struct summary *s, const struct figure_run *runs, size_t n_runs,
                             struct error *e);
void figure_data_free(struct figure_data *d);

/* What it shows is how networks are defined, which nobody measures. */
bool figure_is_of_networks(const struct figure_data *d);

/* Why there is nothing to draw: no value and no published one; NULL where there is. */
const char *figure_data_lack(const struct figure_data *d);

/* The base of a measured point that has no time itself; NULL where all bases have one. */
const struct point_summary *figure_data_lacking_base(const struct figure_data *d);

/* A point of this figure that has no value although it was asked for. */
bool figure_data_misses(const struct figure_data *d, size_t point);

/* Whether a bar may stand for this point. */
bool figure_data_has_bar(const struct figure_data *d, size_t point);

/* What the model says of a point, what was published of it; NAN in figures that show none. */
double figure_data_model(const struct figure_data *d, const struct quantity *q, size_t point);
double figure_data_published(const struct figure_data *d, size_t point);

/* Inside: the column with x in the series file of curves over anything; "": ranks, which all have. */
const char *figure_x_column(const struct figure_data *d);

/* Inside: what the options of the figure mean, before anything is read; ERR_SPEC with their place.
 * Freed with figure_data_free in any case. */
enum status figure_resolve(struct figure_data *d, const struct figure_request *request,
                           const struct spec *spec, bool several, struct error *e);
enum status figure_check_sources(struct figure_data *d, struct error *e);

/* Inside: what a condition may say of a point_summary: an option, a column of summary.csv. */
bool figure_point_value(struct condition_value *value, const char *name, const void *point);
/* Whether it is of points although a file may have a column of this name: case, of several runs run. */
bool figure_is_of_points(const struct figure_data *d, const char *name);
/* Whether `where` says something of this name. */
bool figure_where_names(const struct figure_data *d, const char *name);
/* x of a point, as text. */
const char *figure_x_text(const struct figure_data *d, size_t point);
/* Finds the points that stand in one place of a series, and those that repeat another; ERR_SPEC where
 * they are of different things. */
enum status figure_settle_places(struct figure_data *d, struct error *e);
enum status figure_join_repetitions(struct figure_data *d, struct error *e);
/* `n` points of a series stand at one x. */
enum status figure_refuse_place(const struct figure_data *d, const char *series, const char *x,
                                const size_t *points, size_t n, struct error *e);
/* Finds fault with a figure before anything is run. */
enum status figure_check(const struct figure_request *request, const struct summary *s,
                         struct error *e);
/* Values of points from the tables of all runs, into d->measured. */
enum status figure_measure_points(struct figure_data *d, const struct quantity *quantity,
                                  struct error *e);

/* The individual launches behind the values of a figure, as dots_<figure>.csv: what its script draws
 * as faint dots behind each median. A row a launch that counts, by the order of the series file:
 *
 *   curve, name, point, label, ranks   as in series_<figure>.csv; curve is empty where nothing is drawn
 *   block, seed                        of the launch, in figures of points
 *   x, y                               in figures over anything: as in the series file; which column of it
 *   nth, n                             which of the point's n launches it is, from 1
 *   value                              in the unit of the figure; of a speed-up and an efficiency the
 *                                      ratio to the base's launch in the same block */
enum status dots_write(FILE *out, const struct figure_data *d, struct error *e);
/* Whether the figure's quantity has one value a launch, and its shape a place for each. */
bool dots_exist(const struct figure_data *d);

/* Inside: parts of a row. Numbers follow a comma; a bar begins with its place, from 1 where it is drawn. */
void figure_write_number(FILE *out, double x);
void figure_begin_bar(FILE *out, size_t row, const struct point_summary *p);
