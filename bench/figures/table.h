/* What curves are drawn from: rows of x and values, whichever CSV files and published tables they
 * come from. Rows of a launch that fall on one x are taken together by their mean, launches by their
 * median. Internal to bench/figures. */
#pragma once

#include "bench/collect/series.h"
#include "bench/figures/quantity.h"

struct figure_data;

enum { FIGURE_COLUMNS_MAX = 4 };

/* Of a row or a series: nobody measured it. */
#define NO_POINT ((size_t)-1)

/* The launches behind a value, in the dots of the table. */
struct table_dots {
    size_t first, n;
};

struct table_row {
    size_t series, point; /* of the table; of the summary, or NO_POINT */
    double x;             /* of x by name: which of the names, from 1 */
    struct measured values[FIGURE_COLUMNS_MAX];
    struct table_dots dots[FIGURE_COLUMNS_MAX];
    double published[FIGURE_COLUMNS_MAX];
};

struct table_series {
    char name[192];
    size_t point; /* one of it, or NO_POINT: it has published values only */
    size_t base;  /* the series of points that it is part of */
    size_t nth;   /* as rows brought it */
    bool valued;  /* something of it can be drawn */
    size_t curve; /* its number in the picture, from 1; 0: it is not drawn */
};

struct figure_table {
    struct table_row *rows; /* by series, x and point */
    size_t n;
    struct table_series *series;
    size_t n_series;
    double *dots;
    size_t n_dots;
    bool by_name; /* x is one of the names */
    char **names;
    size_t n_names;
};

/* What a figure goes over: an option, the case, the run, or a column of the file of y. */
struct figure_x {
    bool by_option, by_case, by_run, by_column;
    enum option_id option;
    const char *name;
    const struct column *column; /* by_column: the first of this name */
};

/* Reads what the figure shows. Freed with table_free in any case. */
enum status table_read(struct figure_data *d, struct error *e);
void table_free(struct figure_table *table);

/* Median over the rows of each point, of a quantity of a file: fills d->measured. */
enum status table_measure(struct figure_data *d, struct error *e);

/* Inside: the k-th quantity from its file of every run. */
enum status table_gather(struct figure_data *d, size_t k, struct error *e);
/* Inside: where a text of x stands, and a point; NAN: nowhere. */
enum status table_x_of_text(double *x, struct figure_table *table, const char *text,
                            struct error *e);
enum status table_x_of_point(double *x, struct figure_data *d, size_t point, struct error *e);
/* Inside: adds what others published, from the figure's own files. */
enum status table_add_sources(struct figure_data *d, struct error *e);
struct table_row table_empty_row(size_t series, size_t point, double x);
size_t table_find_name(struct figure_table *table, const char *text, struct error *e);
enum status table_add_row(struct figure_table *table, const struct table_row *row, struct error *e);
/* Inside: one more launch behind a value; NAN is none. Those of one value are added one after another. */
enum status table_add_dot(struct figure_table *table, struct table_dots *dots, double value,
                          struct error *e);
enum status table_add_series(struct figure_table *table, const struct table_series *series,
                             struct error *e);
void table_sort(struct figure_table *table, size_t columns);
/* Inside: of sorted rows, takes away values that half of a series' launches or fewer have: a median of those that last
 * longer is none of all of them. */
void table_cut_ends(struct figure_table *table, size_t columns);
