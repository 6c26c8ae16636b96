/* What the ranks of a launch did when in the step that its records tell of (measure.timeline), on one clock: rows of
 * timeline.csv, and a file that chrome://tracing and Perfetto show. Internal to bench/collect. */
#pragma once

#include "bench/collect/columns.h"
#include "bench/record/records.h"

/* Calls `write` with the rows of a launch, rank by rank, and leaves DIR/timeline.json. `of` says what is the same in
 * all rows. Nothing of a launch without spans, or whose ranks' clocks do not compare. */
enum status timeline_write(const char *dir, const struct rank_record *records, int ranks,
                           const struct timeline_row *of, row_writer *write, struct csv *csv,
                           struct error *e);
