/* CSV files of scalebench: RFC 4180 with line feeds, one row of names. An empty field is an unknown
 * value. The columns of a file are the rows of a .def file in order,
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

/* C type of a cell. Unknown values: NULL, NAN, and a negative BOOL. */
#define CSV_CELL_TEXT const char *
#define CSV_CELL_INT  double
#define CSV_CELL_REAL double
#define CSV_CELL_BOOL int

/* Column of a CSV file. `unit` is "" if there is none; `offset` is that of its cell in the row's
 * struct. */
struct column {
    const char *file, *name;
    enum csv_type type;
    const char *unit, *meaning;
    size_t offset;
};
#define CSV_COLUMN(file, row, id, type, unit, meaning)                                             \
    {file, #id, CSV_##type, unit, meaning, offsetof(struct row, id)},

/* Sets three cells of *row: `name`, name_lo and name_hi. */
#define CSV_SET_INTERVAL(row, name, interval, factor)                                              \
    ((row)->name = (factor) * (interval).mid, (row)->name##_lo = (factor) * (interval).lo,         \
     (row)->name##_hi = (factor) * (interval).hi)

/* Returns "TEXT", "INT", "REAL" or "BOOL". */
const char *csv_type_name(enum csv_type type);

/* Makes every cell of a row unknown. */
void csv_clear_row(const struct column *columns, size_t n, void *row);

void csv_write_header(FILE *out, const struct column *columns, size_t n);
void csv_write_row(FILE *out, const struct column *columns, size_t n, const void *row);
/* Write cells without the end of the line, for rows with more cells, which csv_put_more appends.
 * csv_put_texts writes texts; NULL is an unknown value. */
void csv_put_header(FILE *out, const struct column *columns, size_t n);
void csv_put_row(FILE *out, const struct column *columns, size_t n, const void *row);
void csv_put_texts(FILE *out, const char *const *cells, size_t n);
void csv_put_more(FILE *out, const char *text);

/* Writes columns.csv: its row of names, then one row per column. csv_add_to_dictionary appends
 * the columns of another file. */
void csv_write_dictionary(FILE *out, const struct column *columns, size_t n);
void csv_add_to_dictionary(FILE *out, const struct column *columns, size_t n);
/* Prints name, type, unit and meaning of each column, aligned for people. */
void csv_print_columns(FILE *out, const struct column *columns, size_t n);

/* Closes a written file. ERR_SYSTEM, naming `path`, if not all of it could be written. */
enum status csv_close(FILE *out, const char *path, struct error *e);
