/* The columns of a plan as CSV, for lists of columns. */
#pragma once

#include <stddef.h>

#include "bench/record/csv.h"

const struct column *forecast_columns(size_t *n);
