/* Table of x and y values of curves, read from CSV files of runs and published tables. A y value is
 * the median over launches; several rows of one launch at one x are averaged first. Internal to
 * bench/figures. */
#pragma once

#include "bench/collect/series.h"
#include "bench/figures/quantity.h"

struct figure_data;

enum { FIGURE_COLUMNS_MAX = 4 };

/* Value of `point` in rows and series that have only published values. */
#define NO_POINT ((size_t)-1)

/* Range [first, first + n) of figure_table.dots: the launches behind a value. */
struct table_dots {
    size_t first, n;
};

struct table_row {
    /* indices in the table's series and in the summary's points; `point` may be NO_POINT */
    size_t series, point;
    double x; /* x value; if x is a name, the number of the name, from 1 */
    struct measured values[FIGURE_COLUMNS_MAX];
    struct table_dots dots[FIGURE_COLUMNS_MAX];
    double published[FIGURE_COLUMNS_MAX];
};

struct table_series {
    char name[192];
    size_t point; /* index of one point of the series, as its representative; NO_POINT: only
                     published values */
    size_t base;  /* index in figure_data.series of the series to which the points belong; NO_POINT:
                     only published values */
    size_t nth;   /* index of the series before sorting, in the order in which the file's rows were
                     read */
    bool valued;  /* whether the series has a value to draw */
    size_t curve; /* number of the curve in the picture, from 1; 0: not drawn */
};

struct figure_table {
    struct table_row *rows; /* [n] rows, ordered by series, x and point */
    size_t n;
    struct table_series *series;
    size_t n_series;
    double *dots;
    size_t n_dots;
    bool by_name; /* whether x is an index into `names`, counted from 1 */
    char **names;
    size_t n_names;
};

/* Kind of a figure's x: an option (by_option), the case (by_case), the run (by_run), or a column of
 * the file that has y (by_column). If none of these members is true, the figure's option `kind`
 * fixes x. */
struct figure_x {
    bool by_option, by_case, by_run, by_column;
    enum option_id option;
    const char *name;
    const struct column *column; /* column of x if by_column, otherwise NULL */
};

/* Reads the values of a figure into d->table. Call table_free in any case. */
enum status table_read(struct figure_data *d, struct error *e);
void table_free(struct figure_table *table);

/* For a quantity read from a file, sets d->measured to each point's median over launches; several
 * rows of one launch are first averaged. */
enum status table_measure(struct figure_data *d, struct error *e);

/* Internal: reads the k-th quantity of option y from the quantity's file in every run's folder. */
enum status table_gather(struct figure_data *d, size_t k, struct error *e);
/* Internal: set *x to the position of a text or a point on the x axis; NAN if it has no position
 * there. */
enum status table_x_of_text(double *x, struct figure_table *table, const char *text,
                            struct error *e);
enum status table_x_of_point(double *x, struct figure_data *d, size_t point, struct error *e);
/* Internal: adds published values from the files that the figure names. */
enum status table_add_sources(struct figure_data *d, struct error *e);
struct table_row table_empty_row(size_t series, size_t point, double x);
size_t table_find_name(struct figure_table *table, const char *text, struct error *e);
enum status table_add_row(struct figure_table *table, const struct table_row *row, struct error *e);
/* Internal: adds the value of one launch, to be drawn as a dot. NAN and infinities are ignored. The
 * launches of one median must be added one after another. */
enum status table_add_dot(struct figure_table *table, struct table_dots *dots, double value,
                          struct error *e);
enum status table_add_series(struct figure_table *table, const struct table_series *series,
                             struct error *e);
void table_sort(struct figure_table *table, size_t columns);
/* Internal: removes a series' values at every x that at most half of its launches reached. The rows
 * must be sorted. A median of only the longest launches would not represent the others. */
void table_cut_ends(struct figure_table *table, size_t columns);
