/* CSV files of a run while they are filled. Internal to this folder: write.c writes all of them, and fills those that
 * follow from the summary; launches.c those of what launches have left. */
#pragma once

#include <stdio.h>

#include "bench/collect/stage.h"
#include "bench/collect/summary.h"

/* A file being written, and what its rows are made of. */
struct csv {
    FILE *out;
    size_t file;                  /* of columns/files.def */
    const struct column *columns; /* [n_columns] of this file */
    size_t n_columns;
    const struct column *point, *label, *case_name; /* NULL: the file has none */
    const struct summary *s;
    const char *run_dir;
    const struct journal *journal;
};

/* Its row of names; then a row, of the file's struct in columns.h, which gets the label and the case of its point where
 * it has none, or of texts. */
void csv_begin(struct csv *csv, const char *file);
void csv_add(struct csv *csv, void *row);
void csv_add_texts(struct csv *csv, const char *const *cells, const char *point);
/* Whether rows of the file are of points, and the option is not the name of one of its columns. */
bool csv_has_option(const struct csv *csv, const char *file, enum option_id option);

/* Removes a table of an earlier analysis, for which this one has no rows: it would be taken for its own. */
void csv_remove_stale(const char *run_dir, const char *name);

/* Writes the tables of sweeps that launches have left, each as one. */
enum status csv_join_tables(const struct csv *csv, const struct stage *stage, struct error *e);

/* csv_fill_summary, csv_fill_raw ...: all rows of a file. */
#define CSV_FILE(name, ...) enum status csv_fill_##name(struct csv *csv, struct error *e);
#include "bench/collect/columns/files.def"
