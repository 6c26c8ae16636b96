/* Writes a run's CSV files. Rows written by write.c need only the summary; rows written by
 * launches.c also need the launches' own files. Internal to this folder. */
#pragma once

#include <stdio.h>

#include "bench/collect/stage.h"
#include "bench/collect/summary.h"

/* State of writing one CSV file: output, columns, and the data for its rows. */
struct csv {
    FILE *out;
    size_t file;                                    /* index of the file in columns/files.def */
    struct csv_file own;                            /* name and columns of this file */
    const struct column *point, *label, *case_name; /* columns of this file with the names point,
                                                       label and case; NULL: none */
    const struct summary *s;
    const char *run_dir;
    size_t rows; /* number of rows written to this file so far */
};

/* Begins the file: sets csv->own to the file's name and columns, and writes the header. */
void csv_begin(struct csv *csv, const char *file);
/* Writes `row`, the file's row struct in columns.h. If the label or case of `row` is NULL, sets it
 * from the row's point. */
void csv_add(struct csv *csv, void *row);
/* Writes a row from `cells`, one text for each of the csv->own.n columns. `point`: id of the row's
 * point. */
void csv_add_texts(struct csv *csv, const char *const *cells, const char *point);
/* Returns whether `file` needs an extra column for `option`: its rows belong to points (column
 * `point`), and no column has the option's key as its name. */
bool csv_has_option(const struct csv *csv, const char *file, enum option_id option);

/* Removes the file `name` if it exists. Call it for a CSV file that this analysis does not write,
 * so that no outdated file of an earlier analysis remains. */
void csv_remove_stale(const char *run_dir, const char *name);

/* Joins the CSV files that launches of sweeps have written. For each name in sweep_files, writes
 * one joined file with the rows of each point's last launch that has such a file. If no launch has
 * one, removes the joined file of an earlier analysis. */
enum status csv_join_tables(const struct csv *csv, const struct stage *stage, struct error *e);

/* csv_fill_summary, csv_fill_raw, ...: write all rows of a file */
#define CSV_FILE(name, ...) enum status csv_fill_##name(struct csv *csv, struct error *e);
#include "bench/collect/columns/files.def"
