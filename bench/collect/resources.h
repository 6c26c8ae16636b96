/* Resources of a launch's nodes over time, from samples (bench/resources): rows of resources.csv,
 * and interface traffic that the program did not count. Internal to bench/collect. */
#pragma once

#include "bench/collect/columns.h"
#include "bench/record/records.h"
#include "bench/resources/counters.h"

/* Calls `write` with the rows of the launch in `dir`, node by node in order of time; with none if
 * it was not sampled. `of` holds the values common to all rows. `timed`: times count from the first
 * timed step. `records` [ranks] are the launch's records (NULL: none); an elastic run may end with
 * fewer ranks than its point has. Errors: ERR_DATA with the malformed file. */
enum status resources_write(const char *dir, const struct point *point, bool timed,
                            const struct rank_record *records, int ranks,
                            const struct resources_row *of, row_writer *write, struct csv *csv,
                            struct error *e);

/* Adds the interface traffic of one node per step, in the order of enum traffic_count. Nodes other
 * than the root's keep the maximum. NAN adds nothing. */
void resources_add_traffic(struct launch_result *result, bool root,
                           const double counts[TRAFFIC_COUNTS]);

/* Sets unknown bytes_nic_* and packets_nic_* of a launch from its samples. `records` NULL: the
 * whole launch counts as one step. */
void resources_take_traffic(struct launch_result *result, const char *dir,
                            const struct rank_record *records, int ranks);

/* Sets foreign_pct and steal_pct from the records of the nodes' processors. Both stay unknown if a
 * rank recorded nothing, or if ranks share only some of their processors. */
void resources_take_cores(struct launch_result *result, const struct rank_record *records,
                          int ranks);
