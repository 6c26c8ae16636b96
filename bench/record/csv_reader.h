/* Reads a CSV file into memory: a row of column names, then rows with one cell per column. */
#pragma once

#include <stddef.h>

#include "bench/spec/spec.h"
#include "kernels/base/error.h"

struct csv_table {
    char path[4096];
    char *text;   /* the file's text, which `names` and `cells` point into */
    char **names; /* [columns] column names; start of the allocation that also holds `cells` */
    char **cells; /* [rows, columns] cells of the rows below the column names */
    int *lines;   /* [rows]: line of the file where each row begins */
    int names_line;
    size_t rows, columns;
};

/* Reads a file by RFC 4180. Lines end with \n or \r\n; a \r without \n must be inside quotes. The
 * first row has the column names; earlier lines that begin with # are comments. A byte order mark
 * is skipped. Names must be unique and not empty; each row has one cell per name. ERR_DATA with
 * file and line if a rule is broken; with the file alone if it cannot be opened or contains a zero
 * byte. ERR_SYSTEM if reading fails. Free with csv_table_free, even after an error. */
enum status csv_table_read(struct csv_table *table, const char *path, struct error *e);

/* Reads the table `file` of the run in folder `run`. If the run has no such table,
 * ERR_ARGUMENT says how to write it. */
enum status csv_table_read_run(struct csv_table *table, const char *run, const char *file,
                               struct error *e);
void csv_table_free(struct csv_table *table);

/* Returns the index of a column, -1 if it is not found. */
int csv_table_find(const struct csv_table *table, const char *name);

/* Finds a column. If it is not found: ERR_DATA with file, line and the existing columns. */
enum status csv_table_column(const struct csv_table *table, const char *name, size_t *column,
                             struct error *e);

/* Finds the column `name`, which a spec gives for `key` at position `mark`. If it is not found:
 * ERR_SPEC at `mark` with the key, the file and the existing columns. */
enum status csv_table_column_of_spec(const struct csv_table *table, const char *name,
                                     const char *key, struct mark mark, size_t *column,
                                     struct error *e);

/* Column to find, and where to store its index. */
struct csv_wanted {
    const char *name;
    size_t *column;
};
enum status csv_table_columns(const struct csv_table *table, const struct csv_wanted *wanted,
                              size_t n, struct error *e);

const char *csv_table_cell(const struct csv_table *table, size_t row, size_t column);

/* Return a cell of the column `name` as text or as number; "" or NAN if there is no such column.
 * NAN also if the cell is not a number. */
const char *csv_table_text(const struct csv_table *table, size_t row, const char *name);
double csv_table_value(const struct csv_table *table, size_t row, const char *name);

/* Reads a cell as a number; NAN if the cell is empty. ERR_DATA with file and line if the cell is
 * not a number. */
enum status csv_table_number(const struct csv_table *table, size_t row, size_t column,
                             double *number, struct error *e);
