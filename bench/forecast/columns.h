/* Declares the CSV columns of `scalebench plan --format csv`, `scalebench export`, and `scalebench
 * predict` with --format csv or --format links. */
#pragma once

#include "bench/record/csv.h"

extern const struct csv_file plan_file, export_file, predict_file, links_file;
