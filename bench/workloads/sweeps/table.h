/* Tables of sweeps, RFC 4180 with line feeds. Columns are the rows of a .def file, COLUMN(id, type,
 * unit, meaning), the types being TEXT, INT and REAL; a row is a struct with a field a column:
 *
 *   #define COLUMN(id, type, unit, meaning) CELL_##type id;
 *   struct some_row {
 *   #include "some.def"
 *   };
 *   #undef COLUMN
 *
 *   static const struct table_column COLUMNS[] = {
 *   #define COLUMN(id, type, unit, meaning) TABLE_COLUMN(some_row, id, type, unit, meaning)
 *   ... */
#ifndef SCALEBENCH_BENCH_WORKLOADS_SWEEPS_TABLE_H
#define SCALEBENCH_BENCH_WORKLOADS_SWEEPS_TABLE_H

#include <stddef.h>
#include <stdio.h>

#define CELL_TEXT const char *
#define CELL_INT  double
#define CELL_REAL double

enum cell_type { CELL_TYPE_TEXT, CELL_TYPE_INT, CELL_TYPE_REAL };

struct table_column {
    const char *name, *unit, *meaning;
    enum cell_type type;
    size_t offset; /* of its cell in a row */
};
#define TABLE_COLUMN(row, id, type, unit, meaning)                                                 \
    {#id, unit, meaning, CELL_TYPE_##type, offsetof(struct row, id)},

/* Texts NULL, numbers NAN: what is unknown, an empty field. */
void table_empty_row(const struct table_column *columns, size_t n, void *row);

void table_print_header(FILE *out, const struct table_column *columns, size_t n);
void table_print_row(FILE *out, const struct table_column *columns, size_t n, const void *row);
/* Name, unit and meaning of each, for people. */
void table_print_meanings(FILE *out, const struct table_column *columns, size_t n);

#endif
