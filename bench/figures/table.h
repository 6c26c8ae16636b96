/* Rows of x and values that curves are drawn from, out of CSV files of runs and published
 * tables. Rows of a launch at one x are combined by their mean, launches by their median.
 * Internal to bench/figures. */
#pragma once

#include "bench/collect/series.h"
#include "bench/figures/quantity.h"

struct figure_data;

enum { FIGURE_COLUMNS_MAX = 4 };

/* Index for rows and series of published values only. */
#define NO_POINT ((size_t)-1)

/* Range of d->table.dots: the launches behind a value. */
struct table_dots {
    size_t first, n;
};

struct table_row {
    size_t series, point; /* index of the series in the table; point of the summary, or NO_POINT */
    double x;             /* x value; if x is by name, the number of the name, from 1 */
    struct measured values[FIGURE_COLUMNS_MAX];
    struct table_dots dots[FIGURE_COLUMNS_MAX];
    double published[FIGURE_COLUMNS_MAX];
};

struct table_series {
    char name[192];
    size_t point; /* one of its points; NO_POINT: published values only */
    size_t base;  /* index of the point series that it is part of */
    size_t nth;   /* position in the order of rows */
    bool valued;  /* it has a value to draw */
    size_t curve; /* number in the picture, from 1; 0: not drawn */
};

struct figure_table {
    struct table_row *rows; /* ordered by series, x and point */
    size_t n;
    struct table_series *series;
    size_t n_series;
    double *dots;
    size_t n_dots;
    bool by_name; /* x is one of the names */
    char **names;
    size_t n_names;
};

/* The x of a figure: an option, the case, the run, or a column of y's file. */
struct figure_x {
    bool by_option, by_case, by_run, by_column;
    enum option_id option;
    const char *name;
    const struct column *column; /* first column of this name; NULL unless by_column */
};

/* Reads the values of a figure into d->table. Call table_free in any case. */
enum status table_read(struct figure_data *d, struct error *e);
void table_free(struct figure_table *table);

/* Measures the median over the rows of each point, for a quantity of a file, into d->measured. */
enum status table_measure(struct figure_data *d, struct error *e);

/* Internal: reads the k-th quantity from its file of every run. */
enum status table_gather(struct figure_data *d, size_t k, struct error *e);
/* Internal: return the x of a text or of a point; NAN: it has no place. */
enum status table_x_of_text(double *x, struct figure_table *table, const char *text,
                            struct error *e);
enum status table_x_of_point(double *x, struct figure_data *d, size_t point, struct error *e);
/* Internal: adds published values from the figure's own files. */
enum status table_add_sources(struct figure_data *d, struct error *e);
struct table_row table_empty_row(size_t series, size_t point, double x);
size_t table_find_name(struct figure_table *table, const char *text, struct error *e);
enum status table_add_row(struct figure_table *table, const struct table_row *row, struct error *e);
/* Internal: adds one launch behind a value; NAN is ignored. Launches of one value must be added
 * consecutively. */
enum status table_add_dot(struct figure_table *table, struct table_dots *dots, double value,
                          struct error *e);
enum status table_add_series(struct figure_table *table, const struct table_series *series,
                             struct error *e);
void table_sort(struct figure_table *table, size_t columns);
/* Internal: removes from sorted rows the values that at most half of a series' launches have.
 * The median of only the longest launches would not represent the others. */
void table_cut_ends(struct figure_table *table, size_t columns);
