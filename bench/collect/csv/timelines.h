/* Timeline of one step (measure.timeline) over all ranks of a launch, on one clock: rows of
 * timeline.csv, and a file for chrome://tracing and Perfetto. Internal to bench/collect. */
#pragma once

#include "bench/collect/columns.h"
#include "bench/record/records.h"

/* Calls `write` for each timeline.csv row of a launch, rank by rank, and writes
 * <dir>/timeline.json. `of`: values common to all rows. Writes nothing if no rank recorded a span
 * of the whole step, or if the ranks' clocks cannot be compared. */
enum status timeline_write(const char *dir, const struct rank_record *records, int ranks,
                           const struct timeline_row *of, row_writer *write, struct csv *csv,
                           struct error *e);
