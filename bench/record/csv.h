/* CSV files as our programs write them: RFC 4180 with line feeds, one row of names, an unknown
 * value an empty field. The columns of a file are the rows of a .def file in order,
 *
 *   COLUMN(id, type, unit, meaning)    type: TEXT INT REAL BOOL
 *
 * and a row of the file is a struct with a field for each of them:
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

/* A cell of each type. Texts that are NULL, numbers that are NAN and truths below 0 are unknown. */
#define CSV_CELL_TEXT const char *
#define CSV_CELL_INT  double
#define CSV_CELL_REAL double
#define CSV_CELL_BOOL int

/* A column of a CSV file: name with unit suffix; unit, "" for none; where its cell is in a row. */
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

/* "TEXT", "INT", "REAL" or "BOOL". */
const char *csv_type_name(enum csv_type type);

/* Makes every cell of a row unknown. */
void csv_clear_row(const struct column *columns, size_t n, void *row);

void csv_write_header(FILE *out, const struct column *columns, size_t n);
void csv_write_row(FILE *out, const struct column *columns, size_t n, const void *row);
/* The same without the end of the line: for rows that have more cells, each put by csv_put_more; and of cells that are
 * texts already, NULL being unknown. */
void csv_put_header(FILE *out, const struct column *columns, size_t n);
void csv_put_row(FILE *out, const struct column *columns, size_t n, const void *row);
void csv_put_texts(FILE *out, const char *const *cells, size_t n);
void csv_put_more(FILE *out, const char *text);

/* columns.csv: its row of names, then a row a column; the columns of another file behind them. */
void csv_write_dictionary(FILE *out, const struct column *columns, size_t n);
void csv_add_to_dictionary(FILE *out, const struct column *columns, size_t n);
/* For people: name, type, unit, meaning. */
void csv_print_columns(FILE *out, const struct column *columns, size_t n);

/* Closes a file that was written; ERR_SYSTEM, which names `path`, where not all of it is there. */
enum status csv_close(FILE *out, const char *path, struct error *e);
