/* Every run and sweep that has tables: operands of `report` where none is given, and the lists `runs` and `sweeps`. */
#pragma once

#include "bench/runner/tools.h"
#include "kernels/base/error.h"

struct with_tables {
    char **folders; /* each owned; `folders` may be NULL */
    size_t n;
};

/* Appends to `found`, which is freed with with_tables_free in any case. */
typedef enum status find_with_tables(struct with_tables *found, const char *out,
                                     const struct tools *tools, struct error *e);

/* Finds the latest run of each campaign in `out`, the runs in `out`/reports and the committed runs, in this order. Leaves
 * out what doctor examined and campaigns whose run is in `out`/reports too. */
find_with_tables with_tables_runs;

/* Finds the kernel and communication sweeps in `out` and the committed ones. */
find_with_tables with_tables_sweeps;

void with_tables_free(struct with_tables *found);
