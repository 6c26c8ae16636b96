/* Timelines of a launch's ranks in the recorded step (measure.timeline), on one clock: rows of
 * timeline.csv, and a file for chrome://tracing and Perfetto. Internal to bench/collect. */
#pragma once

#include "bench/collect/columns.h"
#include "bench/record/records.h"

/* Calls `write` with the rows of a launch, rank by rank, and writes DIR/timeline.json. `of` holds
 * the values common to all rows. Writes nothing for launches without spans, or if the ranks' clocks
 * cannot be compared. */
enum status timeline_write(const char *dir, const struct rank_record *records, int ranks,
                           const struct timeline_row *of, row_writer *write, struct csv *csv,
                           struct error *e);
