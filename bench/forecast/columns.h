/* Declares the columns of `scalebench plan --format csv`, `export` and `predict`. */
#pragma once

#include "bench/record/csv.h"

extern const struct csv_file plan_file, export_file, predict_file, links_file;
