/* Declares the columns of `scalebench plan --format csv`, `export` and `predict`. */
#pragma once

#include <stddef.h>

#include "bench/record/csv.h"

const struct column *forecast_columns(size_t *n);
const struct column *export_columns(size_t *n);
const struct column *predict_columns(size_t *n);
const struct column *links_columns(size_t *n);
