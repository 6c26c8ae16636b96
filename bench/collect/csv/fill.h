/* Writing of a run's CSV files. write.c writes all files and fills those that follow from the
 * summary; launches.c fills those that launches leave. Internal to this folder. */
#pragma once

#include <stdio.h>

#include "bench/collect/stage.h"
#include "bench/collect/summary.h"

/* A file being written, with the sources of its rows. */
struct csv {
    FILE *out;
    size_t file;                  /* index of the file in columns/files.def */
    const struct column *columns; /* [n_columns] columns of this file */
    size_t n_columns;
    const struct column *point, *label, *case_name; /* columns of these names; NULL: not in this
                                                       file */
    const struct summary *s;
    const char *run_dir;
    const struct journal *journal;
    size_t rows; /* rows of this file so far */
};

/* Sets the columns of a file and writes its header. */
void csv_begin(struct csv *csv, const char *file);
/* Adds a row from the file's struct in columns.h. Fills in label and case of the row's point if
 * they are unknown. */
void csv_add(struct csv *csv, void *row);
/* Adds a row of texts. */
void csv_add_texts(struct csv *csv, const char *const *cells, const char *point);
/* Returns whether rows of the file belong to points, and the option is not one of its columns. */
bool csv_has_option(const struct csv *csv, const char *file, enum option_id option);

/* Removes a table of an earlier analysis that this analysis does not write, so that nobody takes it
 * for current. */
void csv_remove_stale(const char *run_dir, const char *name);

/* Joins the tables that launches of sweeps left, one file per kind. */
enum status csv_join_tables(const struct csv *csv, const struct stage *stage, struct error *e);

/* csv_fill_summary, csv_fill_raw, ...: write all rows of a file */
#define CSV_FILE(name, ...) enum status csv_fill_##name(struct csv *csv, struct error *e);
#include "bench/collect/columns/files.def"
