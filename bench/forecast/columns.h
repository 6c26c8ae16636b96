/* Declares the columns of `scalebench plan --format csv`. */
#pragma once

#include <stddef.h>

#include "bench/record/csv.h"

const struct column *forecast_columns(size_t *n);
