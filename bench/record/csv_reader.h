/* A CSV file as it was read: names, then rows as wide. */
#pragma once

#include <stddef.h>

#include "bench/spec/spec.h"
#include "kernels/base/error.h"

struct csv_table {
    char path[4096];
    char *text;   /* owns every cell */
    char **names; /* [columns]; the first of the cells */
    char **cells; /* [rows, columns], names left out */
    int *lines;   /* [rows]: where each begins */
    int names_line;
    size_t rows, columns;
};

/* Reads RFC 4180: commas, quotes where needed, one row of names, lines that end with \n or \r\n;
 * a carriage return elsewhere is data inside quotes only. Lines before the names that begin with #
 * are remarks; a byte order mark before all is skipped. ERR_DATA with file and line for a row that
 * is wider or narrower than the names, for names that are empty or repeated and for quotes that do
 * not match. Freed with csv_table_free in any case. */
enum status csv_table_read(struct csv_table *table, const char *path, struct error *e);
void csv_table_free(struct csv_table *table);

/* Index of a column, or -1. */
int csv_table_find(const struct csv_table *table, const char *name);

/* The same; ERR_DATA with file and line names the columns that there are. */
enum status csv_table_column(const struct csv_table *table, const char *name, size_t *column,
                             struct error *e);

/* A column that a spec names at `mark`; ERR_SPEC there names the key, the file and its columns. */
enum status csv_table_column_of_spec(const struct csv_table *table, const char *name,
                                     const char *key, struct mark mark, size_t *column,
                                     struct error *e);

/* The same for each column that is wanted. */
struct csv_wanted {
    const char *name;
    size_t *column;
};
enum status csv_table_columns(const struct csv_table *table, const struct csv_wanted *wanted,
                              size_t n, struct error *e);

const char *csv_table_cell(const struct csv_table *table, size_t row, size_t column);

/* A cell as text, or as a number, by the name of its column: "" and NAN where there is none. */
const char *csv_table_text(const struct csv_table *table, size_t row, const char *name);
double csv_table_value(const struct csv_table *table, size_t row, const char *name);

/* A cell as a number; NAN where it is empty. ERR_DATA with file and line for anything else. */
enum status csv_table_number(const struct csv_table *table, size_t row, size_t column,
                             double *number, struct error *e);
