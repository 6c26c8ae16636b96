/* The CSV files of `scalebench doctor`. A row of one is a struct whose members are the columns of its .def
 * file: numbers, NAN where unknown, and texts of at most DOCTOR_TEXT - 1 bytes, so that ranks can send rows to
 * each other as they are. What ranks measure is in nodes.csv, bursts.csv and messages.csv, what is made of it in
 * cores.csv, links.csv and findings.csv. */
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
    const char *file; /* its name */
    const char *what; /* what a row is */
    const struct column *columns;
    size_t n, row_bytes;
};

extern const struct doctor_table doctor_nodes, doctor_bursts, doctor_messages, doctor_cores,
    doctor_links, doctor_findings;

/* All of them. */
const struct doctor_table *const *doctor_tables(size_t *n);

/* Makes every cell of a row unknown. */
void doctor_clear(const struct doctor_table *table, void *row);

/* Writes FOLDER/<file> with n rows. ERR_SYSTEM. */
enum status doctor_write(const struct doctor_table *table, const char *folder, const void *rows,
                         size_t n, struct error *e);

/* Reads it: *rows is an array of n of the table's structs, freed with free, NULL on error. ERR_DATA with file and line
 * for a file that is not as it was written, ERR_SYSTEM or ERR_DATA where it is not there. */
enum status doctor_read(const struct doctor_table *table, const char *folder, void *rows, size_t *n,
                        struct error *e);

/* columns.csv of all of them. */
enum status doctor_write_dictionary(const char *folder, struct error *e);
