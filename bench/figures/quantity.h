/* What figures show of each point: rows of bench/spec/quantities.def. Numbers come from the CSV
 * files of the run alone, so that a figure can be drawn again from them. Internal to
 * bench/figures. */
#pragma once

#include "bench/collect/collect.h"
#include "bench/collect/columns.h"

enum quantity_source { SOURCE_POINTS, SOURCE_TIMED, SOURCE_RUNS };

/* How it follows from the time of a step, or from that of its calls alone. */
enum quantity_relation {
    RELATION_NONE,
    RELATION_CALLS,
    RELATION_STEP,
    RELATION_RATE,
    RELATION_SPEEDUP,
    RELATION_EFFICIENCY
};

/* Most columns that are added to one. */
enum { QUANTITY_TERMS_MAX = 4 };

struct quantity {
    const char *name;
    const char *title; /* of the axis */
    const char *file;  /* CSV file whose rows are taken together; NULL: the points' */
    double most;       /* that there can be */
    enum quantity_source source;
    const char *raw;       /* column of raw.csv, unless the source is POINTS */
    enum column_id column; /* of summary.csv; COLUMNS: none */
    /* Of the source POINTS. */
    double unit;                  /* of the column in one of the axis */
    enum column_id whole, lo, hi; /* whose interval is as wide, for its size */
    enum quantity_relation relation;
    /* Of a sum: columns of `file` that are added to `raw`. */
    const char *added[QUANTITY_TERMS_MAX - 1];
    size_t n_added;
    bool complete; /* a launch without a value leaves its point without one */
};

/* A row of quantities.def; NULL: there is none of this name. */
const struct quantity *quantity_find(const char *name);

/* A column of numbers as a quantity: of `file` ("steps.csv"; NULL: any), which has column `x` too
 * (NULL: none is wanted); false where there is none. `title` is room for the quantity's. */
enum { QUANTITY_TITLE = 96 };
bool quantity_of_column(struct quantity *quantity, char title[QUANTITY_TITLE], const char *name,
                        const char *file, const char *x);
/* What an axis calls it: "wait (ms)" of wait_ms, "parameters" of params; what is a quantity too has its
 * title. */
void quantity_column_title(char title[QUANTITY_TITLE], const struct column *column);
/* The same of an option, as bench/spec/figures/axes.def says it, else by its name and unit: "nodes", "global
 * batch (images)". One that a spec names itself is called as there. */
void quantity_option_title(char title[QUANTITY_TITLE], const struct spec_option *option);

/* "forward_ms + backward_ms", columns of one file and one unit, as a quantity; false with the
 * reason in `why`. `name` is room for what it is called, the text without blanks. */
bool quantity_of_sum(struct quantity *quantity, char name[QUANTITY_TITLE],
                     char title[QUANTITY_TITLE], const char *text, const char *file, const char *x,
                     char why[QUANTITY_TITLE]);
/* Whether a text says a quantity, blanks being of no matter. */
bool quantity_is(const struct quantity *quantity, const char *text);

/* Every name that a figure can show, quantities and columns of numbers, for messages: *n of them,
 * in an array that is the caller's to free. */
enum status quantity_names(const char ***names, size_t *n, struct error *e);

/* One value a point; an unknown one is NAN and of 0 launches. */
struct measured {
    struct interval value; /* lo, hi: NAN of a single launch */
    size_t n;              /* launches or runs */
};

/* What was published of a point by published.* of the spec, in the unit of the axis; NAN where
 * nothing was. */
double quantity_published(const struct quantity *quantity, const struct summary *s, size_t point);

/* What a point has of a quantity of the source POINTS. */
struct measured quantity_measure(const struct quantity *quantity, const struct point_summary *p);

/* Median and interval of n values; a single value has no interval. */
struct measured measured_of(const double *values, size_t n);
