/* Reads metrics of metrics.def from record lines. Internal to bench/collect. */
#pragma once

#include "bench/record/fields.h"

enum metric_id {
#define METRIC(id, ...) METRIC_##id,
#include "bench/record/metrics.def"
    METRICS
};

/* Returns metric `id` from its record line in lines[], in the unit of its column. NAN if the value
 * is unknown or the line is NULL. */
double metric_number(enum metric_id id, const void *const lines[RECORD_LINES]);
