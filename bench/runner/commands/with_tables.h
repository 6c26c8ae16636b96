/* Finds the folders of the runs and sweeps that `report` shows by default. All of them contain
 * tables. `list runs` and `list sweeps` print the folders. */
#pragma once

#include "bench/runner/tools.h"
#include "kernels/base/error.h"

struct with_tables {
    char **folders; /* [n] paths of the folders found; owned */
    size_t n;
};

/* Appends the folders of runs or sweeps to `found`. Free with with_tables_free, also after an
 * error. */
typedef enum status find_with_tables(struct with_tables *found, const char *out,
                                     const struct tools *tools, struct error *e);

/* Finds the latest run of each campaign in `out`, the runs in `out`/reports and the committed runs,
 * in this order. Leaves out sweeps, runs of doctor, and the latest run of a campaign that also has
 * a run in `out`/reports. */
find_with_tables with_tables_runs;

/* Finds sweeps of kernels and of communication, in `out` and among the committed results. */
find_with_tables with_tables_sweeps;

/* Finds the runs committed to the repository, in results/reference. Leaves out views, which show
 * the table of another run. */
enum status with_tables_committed(struct with_tables *found, const struct tools *tools,
                                  struct error *e);

/* Appends a copy of the path `folder`. */
enum status with_tables_add(struct with_tables *found, const char *folder, struct error *e);

void with_tables_free(struct with_tables *found);
