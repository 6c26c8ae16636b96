/* What figures show of each point: rows of bench/spec/quantities.def. Numbers come from the CSV
 * files of the run alone, so that a figure can be drawn again from them. Internal to
 * bench/figures. */
#pragma once

#include "bench/collect/collect.h"
#include "bench/collect/columns.h"

enum quantity_source { SOURCE_POINTS, SOURCE_TIMED, SOURCE_RUNS };

/* How it follows from the time of a step. */
enum quantity_relation { RELATION_NONE, RELATION_STEP, RELATION_SPEEDUP, RELATION_EFFICIENCY };

struct quantity {
    const char *title; /* of the axis */
    double most;       /* that there can be */
    enum quantity_source source;
    const char *raw;       /* column of raw.csv, unless the source is POINTS */
    enum column_id column; /* of summary.csv */
    /* Of the source POINTS. */
    double unit;                  /* of the column in one of the axis */
    enum column_id whole, lo, hi; /* whose interval is as wide, for its size */
    enum quantity_relation relation;
};

enum quantity_id {
#define QUANTITY(name, title, ...) QUANTITY_##name,
#include "bench/spec/quantities.def"
    QUANTITY_chosen /* by `bars` */
};

/* What a figure of this row shows in a campaign of this spec. */
const struct quantity *quantity_get(enum quantity_id id, const struct spec *spec);

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
