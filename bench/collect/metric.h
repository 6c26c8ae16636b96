/* Metrics of metrics.def that are fields of records, by the names of their columns. Internal to
 * bench/collect. */
#pragma once

#include "bench/record/fields.h"

enum metric_id {
#define METRIC(id, ...) METRIC_##id,
#include "bench/record/metrics.def"
    METRICS
};

/* The number that a metric has in a line of its kind, in the unit of its column; NAN where it is
 * unknown or that line is NULL. */
double metric_number(enum metric_id id, const void *const lines[RECORD_LINES]);
