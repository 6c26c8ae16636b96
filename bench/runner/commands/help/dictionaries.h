/* Dictionaries of columns: one per kind of CSV file, with the meaning of each column. Internal to
 * bench/runner/commands. */
#pragma once

#include "bench/record/csv.h"

/* Returns the i-th dictionary, which describes the columns of a CSV file. Dictionary 0 describes
 * the columns of all CSV files of a run. NULL if i is beyond the last dictionary. */
const struct csv_file *dictionary_get(size_t i);
