/* A CSV file as a table of a page, and as a file that a reader saves. */
#pragma once

#include "bench/record/csv_reader.h"

/* Every row with an anchor, <id>-<row>, from 1. Columns without a value are left out, those that are the
 * same in all rows stand above. */
enum status csv_table_write(FILE *out, const struct csv_table *table, const char *id,
                            struct error *e);

/* A link that holds the whole file, saved as `name`. */
enum status csv_table_write_link(FILE *out, const char *path, const char *name, struct error *e);
