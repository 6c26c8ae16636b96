/* Table of the quantities that `compare` can compare, from compared.def. Internal to
 * bench/compare. */
#pragma once

#include "bench/collect/collect.h"
#include "bench/collect/columns.h"

enum compared_better { BETTER_LOWER, BETTER_HIGHER };
enum compared_source { SOURCE_COLUMN, SOURCE_RATE, SOURCE_BASE, SOURCE_CORES, SOURCE_PEER };
enum compared_clock { CLOCK_FREE, CLOCK_TIME, CLOCK_RATE };

struct compared {
    const char *name, *title;
    /* verdicts if the value is better or worse, such as "faster" and "slower" */
    const char *good, *bad;
    enum compared_better better;
    enum compared_source source;
    const char *run; /* value of raw.csv's column `run`: "time" or "accuracy" */
    const char *raw; /* column of raw.csv that values are computed from */
    enum compared_clock clock;
    enum column_id published;
    double spread_pct; /* standard deviation assumed between campaigns (% of the value); repetitions
                          of a run refine it */
    double margin_pct;
};

/* Finds the quantity with this name. The message of ERR_ARGUMENT lists all names. */
enum status compared_find(const struct compared **row, const char *name, struct error *e);
