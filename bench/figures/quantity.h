/* What figures show of each point: rows of bench/spec/quantities.def. Numbers come from the CSV
 * files of the run alone, so that a figure can be drawn again from them. Internal to
 * bench/figures. */
#pragma once

#include "bench/collect/collect.h"
#include "bench/collect/columns.h"

enum quantity_source { SOURCE_POINTS, SOURCE_TIMED, SOURCE_RUNS };

/* How it follows from the time of a step. */
enum quantity_relation {
    RELATION_NONE,
    RELATION_STEP,
    RELATION_RATE,
    RELATION_SPEEDUP,
    RELATION_EFFICIENCY
};

struct quantity {
    const char *name;
    const char *title; /* of the axis */
    const char *file;  /* CSV file whose rows are taken together; NULL: the points' */
    double most;       /* that there can be */
    enum quantity_source source;
    const char *raw;       /* column of raw.csv, unless the source is POINTS */
    enum column_id column; /* of summary.csv */
    /* Of the source POINTS. */
    double unit;                  /* of the column in one of the axis */
    enum column_id whole, lo, hi; /* whose interval is as wide, for its size */
    enum quantity_relation relation;
};

/* A row of quantities.def; NULL: there is none of this name. */
const struct quantity *quantity_find(const char *name);

/* A column of numbers as a quantity: of `file` ("steps.csv"; NULL: any), which has column `x` too
 * (NULL: none is wanted); false where there is none. `title` is room for the quantity's. */
enum { QUANTITY_TITLE = 96 };
bool quantity_of_column(struct quantity *quantity, char title[QUANTITY_TITLE], const char *name,
                        const char *file, const char *x);

/* Every name that a figure can show, quantities and columns of numbers, for messages: *n of them,
 * in an array that is the caller's to free. */
enum status quantity_names(const char ***names, size_t *n, struct error *e);

/* One value a point; an unknown one is NAN and of 0 launches. */
struct measured {
    struct interval value; /* lo, hi: NAN of a single launch */
    size_t n;              /* launches or runs */
};

/* Fills measured[s->n]. */
enum status quantity_measure(struct measured *measured, const struct quantity *quantity,
                             const struct summary *s, const char *run_dir, struct error *e);

/* Median and interval of n values; a single value has no interval. */
struct measured measured_of(const double *values, size_t n);
