/* What the nodes of a launch did over time, from their samples (bench/resources): rows of resources.csv, and
 * what crossed interfaces where the program itself did not count it. Internal to bench/collect. */
#pragma once

#include "bench/collect/columns.h"
#include "bench/record/records.h"
#include "bench/resources/counters.h"

/* Calls `write` with the rows of a launch in `dir`, node by node in the order of time; none where it was not
 * sampled. `of` says what is the same in all of them; `timed`: time begins with the timed steps; `records` are those of
 * its ranks, which an elastic run may have ended with fewer of than the point has; NULL where the program wrote none.
 * ERR_DATA names a file of samples that is wrong. */
enum status resources_write(const char *dir, const struct point *point, bool timed,
                            const struct rank_record *records, int ranks,
                            const struct resources_row *of, row_writer *write, struct csv *csv,
                            struct error *e);

/* Adds what a step brought through a node's interface, of which those of nodes other than the root's keep the
 * most, in the order of enum traffic_count: bytes_nic_rx and so on. NAN adds nothing. */
void resources_add_traffic(struct launch_result *result, bool root,
                           const double counts[TRAFFIC_COUNTS]);

/* Fills bytes_nic_rx and so on of a launch that does not know them, from its samples. `records` is NULL
 * where the program wrote none: the whole launch is its one step. */
void resources_take_traffic(struct launch_result *result, const char *dir,
                            const struct rank_record *records, int ranks);

/* Fills foreign_pct and steal_pct from the records of the processors of the ranks' nodes. Both stay unknown if a
 * rank recorded nothing, or ranks share some of their processors and not all. */
void resources_take_cores(struct launch_result *result, const struct rank_record *records,
                          int ranks);
