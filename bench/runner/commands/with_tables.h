/* Every run and sweep that has tables: operands of `report` where none is given, and the lists `runs` and `sweeps`. */
#pragma once

#include "bench/runner/tools.h"
#include "kernels/base/error.h"

struct with_tables {
    char **folders; /* each owned; `folders` may be NULL */
    size_t n;
};

/* Finds the latest run of each campaign in `out`, the runs in `out`/reports and the committed runs, in this order. Leaves
 * out what doctor examined and campaigns whose run is in `out`/reports too. Freed with with_tables_free in any case. */
enum status with_tables_runs(struct with_tables *found, const char *out, const struct tools *tools,
                             struct error *e);

/* Finds the kernel and communication sweeps in `out` and the committed ones. Appends to `found`. */
enum status with_tables_sweeps(struct with_tables *found, const char *out,
                               const struct tools *tools, struct error *e);

void with_tables_free(struct with_tables *found);
