/* CSV files of `scalebench doctor`. A row is a struct whose members are the columns of a .def file:
 * numbers (NAN if unknown) and texts shorter than DOCTOR_TEXT. Rows have no pointers, so ranks can
 * exchange them unchanged. nodes.csv, bursts.csv and messages.csv have measurements, the other
 * files results. */
#pragma once

#include <stddef.h>

#include "bench/record/csv.h"
#include "kernels/base/error.h"

enum { DOCTOR_TEXT = 256 };

#define DOCTOR_CELL_TEXT(id) char id[DOCTOR_TEXT]
#define DOCTOR_CELL_INT(id)  double id
#define DOCTOR_CELL_REAL(id) double id
#define DOCTOR_CELL_BOOL(id) double id

#define COLUMN(id, type, unit, meaning) DOCTOR_CELL_##type(id);
struct doctor_node {
#include "bench/doctor/csv_nodes.def"
};
struct doctor_burst {
#include "bench/doctor/csv_bursts.def"
};
struct doctor_message {
#include "bench/doctor/csv_messages.def"
};
struct doctor_core {
#include "bench/doctor/csv_cores.def"
};
struct doctor_link {
#include "bench/doctor/csv_links.def"
};
struct doctor_finding {
#include "bench/doctor/csv_findings.def"
};
#undef COLUMN

struct doctor_table {
    struct csv_file file;
    size_t row_bytes;
};

extern const struct doctor_table doctor_nodes, doctor_bursts, doctor_messages, doctor_cores,
    doctor_links, doctor_findings;

/* Returns all tables and sets *n to their number. */
const struct doctor_table *const *doctor_tables(size_t *n);

/* Sets every cell of a row to unknown. */
void doctor_clear(const struct doctor_table *table, void *row);

/* Writes n rows to FOLDER/<file>, where <file> is the table's name. ERR_SYSTEM if that fails. */
enum status doctor_write(const struct doctor_table *table, const char *folder, const void *rows,
                         size_t n, struct error *e);

/* Reads the table's CSV file in `folder`. `rows`: address of a NULL pointer, set to a new array of
 * *n row structs that the caller frees. On error, the pointer stays NULL. ERR_DATA with file and
 * line if the file is missing or malformed, ERR_SYSTEM if reading fails. */
enum status doctor_read(const struct doctor_table *table, const char *folder, void *rows, size_t *n,
                        struct error *e);

/* Writes FOLDER/columns.csv, which explains the columns of all tables. */
enum status doctor_write_dictionary(const char *folder, struct error *e);
