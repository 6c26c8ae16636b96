/* Quantities that figures can show: rows of bench/spec/quantities.def, or any column of numbers.
 * Values come only from CSV files of the run, so that a figure can be drawn again. Internal to
 * bench/figures. */
#pragma once

#include "bench/collect/collect.h"
#include "bench/collect/columns.h"

enum quantity_source { SOURCE_POINTS, SOURCE_TIMED, SOURCE_RUNS };

/* How a quantity is derived from the step time, or from the time of the step's communication calls
 * alone. */
enum quantity_relation {
    RELATION_NONE,
    RELATION_CALLS,
    RELATION_STEP,
    RELATION_RATE,
    RELATION_SPEEDUP,
    RELATION_EFFICIENCY
};

/* Returns whether the quantity is a ratio to the base point. */
static inline bool relation_is_ratio(enum quantity_relation relation)
{
    return relation == RELATION_SPEEDUP || relation == RELATION_EFFICIENCY;
}

/* Largest number of columns in a sum. */
enum { QUANTITY_TERMS_MAX = 4 };

struct quantity {
    const char *name;
    const char *title; /* title of the axis */
    /* CSV file whose rows are combined into one value per point; NULL: none */
    const char *file;
    double most; /* value at which the axis ends: 100 for shares in per cent; INFINITY: not fixed */
    enum quantity_source source;
    /* name of the column that gives the values: a column of `file`, or of raw.csv if `file` is
     * NULL. If this name is NULL, the values come from summary.csv */
    const char *raw;
    enum column_id column; /* column of summary.csv; COLUMNS: none */
    /* `unit`, `whole`, `lo` and `hi` are for values from summary.csv (source POINTS). For other
     * sources, `unit` is 1. */
    double unit; /* factor from the unit of the column to the unit of the axis */
    /* lo, hi: columns with the interval of column `whole`. The interval of the plotted value is
     * [lo, hi] x value / whole. COLUMNS: no interval */
    enum column_id whole, lo, hi;
    enum quantity_relation relation;
    /* For sums of columns: names of the columns of `file` to add to column `raw`. */
    const char *added[QUANTITY_TERMS_MAX - 1];
    size_t n_added;
    bool complete; /* whether a point's value is unknown if one of its launches lacks a value */
};

/* Returns the row of quantities.def with this name, or NULL. */
const struct quantity *quantity_find(const char *name);

enum { QUANTITY_TITLE = 96, QUANTITY_WHY = 320 };
/* Makes a quantity of column `name` of `file`, such as "steps.csv" (NULL: any file with the
 * column). The column must hold numbers. The file must also have column `x`, unless `x` is NULL.
 * Returns false if there is no such column. `title` stores the title and must outlive the
 * quantity. */
bool quantity_of_column(struct quantity *quantity, char title[QUANTITY_TITLE], const char *name,
                        const char *file, const char *x);
/* Writes the axis title of a column: from quantities.def or axes.def, otherwise made from name and
 * unit, such as "wait (ms)" for wait_ms. */
void quantity_column_title(char title[QUANTITY_TITLE], const struct column *column);
/* Writes the axis title of an option, such as "global batch (images)": from axes.def, otherwise
 * made from name and unit. A user-defined option has its name as title. */
void quantity_option_title(char title[QUANTITY_TITLE], const struct spec_option *option);

/* Makes a quantity from a sum of columns, such as "forward_ms + backward_ms". The columns must be
 * in one file and have one unit. If the sum is not valid, returns false with the reason in `why`.
 * Writes the sum without blanks to `name`, and the axis title to `title`. Both must outlive the
 * quantity. */
bool quantity_of_sum(struct quantity *quantity, char name[QUANTITY_TITLE],
                     char title[QUANTITY_TITLE], const char *text, const char *file, const char *x,
                     char why[QUANTITY_WHY]);
/* Returns whether `text`, without its blanks, is the quantity's name. */
bool quantity_is(const struct quantity *quantity, const char *text);

/* Lists the names of all quantities, and of all columns that are not text, for messages. The caller
 * frees the array *names [*n], but not the names in it. */
enum status quantity_names(const char ***names, size_t *n, struct error *e);

/* Value of a quantity at one point. If the value is unknown, value.mid is NAN. */
struct measured {
    struct interval value; /* median and interval; lo and hi: NAN if there is no interval */
    size_t n;              /* number of launches or accuracy runs behind the value */
};

/* Returns the published value of a point, from published.* of the spec, in the unit of the axis;
 * NAN if there is none. */
double quantity_published(const struct quantity *quantity, const struct summary *s, size_t point);

/* Returns a point's value of a quantity with source POINTS. */
struct measured quantity_measure(const struct quantity *quantity, const struct point_summary *p);

/* Returns median and interval of n values; a single value has no interval. */
struct measured measured_of(const double *values, size_t n);
