/* Reads samples of a launch's nodes (bench/resources): processes and traffic over time for
 * resources.csv, and the network traffic of programs that do not count it. Internal to
 * bench/collect. */
#pragma once

#include "bench/collect/columns.h"
#include "bench/record/records.h"
#include "bench/resources/counters.h"

/* Calls `write` for each resources.csv row of the launch in `dir`, ordered by node and time. A node
 * with fewer than two samples has no rows. time_s counts from the start of the timed steps if
 * `timed` is true and `records` contains these steps, otherwise from the node's first sample. `of`:
 * values common to all rows. `records` [ranks]: the launch's records, or NULL. `ranks`: number of
 * ranks at the end of the launch (elastic runs change it). Errors: ERR_DATA. */
enum status resources_write(const char *dir, const struct point *point, bool timed,
                            const struct rank_record *records, int ranks,
                            const struct resources_row *of, row_writer *write, struct csv *csv,
                            struct error *e);

/* Merges one node's network traffic per step into the result. `root`: whether the node runs rank 0;
 * its counts are kept apart. Over all other nodes, the result keeps the maximum of each count. NAN
 * is ignored. */
void resources_add_traffic(struct launch_result *result, bool root,
                           const double counts[TRAFFIC_COUNTS]);

/* Sets bytes_nic_* and packets_nic_* from the samples of a launch on several nodes, unless the
 * program recorded these values. `records` NULL: the whole launch is one step. */
void resources_take_traffic(struct launch_result *result, const char *dir,
                            const struct rank_record *records, int ranks);

/* Sets foreign_pct and steal_pct from the processor times that ranks recorded. Both stay unknown if
 * times are missing, or two ranks share only some of their processors. */
void resources_take_cores(struct launch_result *result, const struct rank_record *records,
                          int ranks);
