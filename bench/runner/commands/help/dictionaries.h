/* Dictionaries of columns: one per kind of CSV file, with the meaning of each column. Internal to
 * bench/runner/commands. */
#pragma once

#include "bench/record/csv.h"

/* Returns the i-th dictionary; NULL if there are fewer. */
const struct csv_file *dictionary_get(size_t i);
