/* The rows of compared.def: what of launches can be compared. Internal to bench/compare. */
#pragma once

#include "bench/collect/collect.h"
#include "bench/collect/columns.h"

enum compared_better { BETTER_LOWER, BETTER_HIGHER };
enum compared_source { SOURCE_COLUMN, SOURCE_RATE, SOURCE_BASE, SOURCE_CORES, SOURCE_PEER };
enum compared_clock { CLOCK_FREE, CLOCK_TIME, CLOCK_RATE };

struct compared {
    const char *name, *title;
    const char *good, *bad; /* verdicts */
    enum compared_better better;
    enum compared_source source;
    const char *run; /* of raw.csv */
    const char *raw; /* column there */
    enum compared_clock clock;
    enum column_id published;
    double spread_pct; /* standard deviation between campaigns, what is usual */
    double margin_pct;
};

/* The row that is called so; ERR_ARGUMENT names all that there are. */
enum status compared_find(const struct compared **row, const char *name, struct error *e);
