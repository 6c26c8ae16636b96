/* Writes the CSV files of scalebench: RFC 4180 with line feeds; the first row has the column names.
 * An empty field is an unknown value. The columns of a file are the rows of a .def file in order,
 *
 *   COLUMN(id, type, unit, meaning)    type: TEXT INT REAL BOOL
 *
 * and a row of the file is a struct with one member per column:
 *
 *   #define COLUMN(id, type, unit, meaning) CSV_CELL_##type id;
 *   struct some_row {
 *   #include "some.def"
 *   };
 *   #undef COLUMN
 *
 *   #define COLUMN(id, type, unit, meaning) CSV_COLUMN("some.csv", some_row, id, type, unit, meaning)
 *   static const struct column columns[] = {
 *   #include "some.def"
 *   }; */
#pragma once

#include <stddef.h>
#include <stdio.h>

#include "kernels/base/error.h"

enum csv_type { CSV_TEXT, CSV_INT, CSV_REAL, CSV_BOOL };

/* C types of cells, by column type. NULL, NAN and a negative BOOL are unknown values. */
#define CSV_CELL_TEXT const char *
#define CSV_CELL_INT  double
#define CSV_CELL_REAL double
#define CSV_CELL_BOOL int

/* Column of a CSV file. `unit` is "" if the column has none; `offset` is the offset of the cell in
 * the row's struct. */
struct column {
    const char *file, *name;
    enum csv_type type;
    const char *unit, *meaning;
    size_t offset;
};
#define CSV_COLUMN(file, row, id, type, unit, meaning)                                             \
    {file, #id, CSV_##type, unit, meaning, offsetof(struct row, id)},

/* Description of a kind of CSV file. */
struct csv_file {
    const char *name;
    const char *rows;             /* meaning of a row, for `list columns`; NULL: not listed there */
    const struct column *columns; /* [n] columns in order */
    size_t n;
};

/* Sets the cells `name`, name_lo and name_hi of *row to `factor` times mid, lo and hi of an
 * interval. */
#define CSV_SET_INTERVAL(row, name, interval, factor)                                              \
    ((row)->name = (factor) * (interval).mid, (row)->name##_lo = (factor) * (interval).lo,         \
     (row)->name##_hi = (factor) * (interval).hi)

/* Returns "TEXT", "INT", "REAL" or "BOOL". */
const char *csv_type_name(enum csv_type type);

/* Sets every cell of a row to unknown. */
void csv_clear_row(const struct csv_file *file, void *row);

void csv_write_header(FILE *out, const struct csv_file *file);
void csv_write_row(FILE *out, const struct csv_file *file, const void *row);
/* Write column names, a row or n texts without a line end, so that csv_put_more can append cells. A
 * NULL text becomes an empty cell. */
void csv_put_header(FILE *out, const struct csv_file *file);
void csv_put_row(FILE *out, const struct csv_file *file, const void *row);
void csv_put_texts(FILE *out, const char *const *cells, size_t n);
void csv_put_more(FILE *out, const char *text);

/* csv_begin_dictionary writes the header of columns.csv, the dictionary of CSV columns.
 * csv_add_to_dictionary writes one row for each of n columns. */
void csv_begin_dictionary(FILE *out);
void csv_add_to_dictionary(FILE *out, const struct column *columns, size_t n);
/* Prints the meaning of a row of the file, then an aligned list with name, type, unit and meaning
 * of each column. */
void csv_print_columns(FILE *out, const struct csv_file *file);

/* Closes a file after writing. ERR_SYSTEM with `path` if closing or any earlier write to the file
 * failed. */
enum status csv_close(FILE *out, const char *path, struct error *e);
