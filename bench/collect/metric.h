/* Metrics of metrics.def that are fields of records. Internal to bench/collect. */
#pragma once

#include "bench/record/fields.h"

enum metric_id {
#define METRIC(id, ...) METRIC_##id,
#include "bench/record/metrics.def"
    METRICS
};

/* Returns a metric of a record line, in the unit of its column. NAN if it is unknown or the line is
 * NULL. */
double metric_number(enum metric_id id, const void *const lines[RECORD_LINES]);
