/* What the numbers of a figure say by themselves. */
#pragma once

#include <stdbool.h>

#include "bench/record/csv_reader.h"

/* A sentence for each column with an interval, NAME between NAME_lo and NAME_hi (of the quantity
 * `value`: value between lo and hi): the least and the greatest value, and whether their intervals meet; and, where
 * `published`, one for the ratio to what was published in the same row. False
 * where there is nothing to tell, as of a table without such columns. */
bool spread_write(FILE *out, const struct csv_table *table, const char *value, bool published);
