/* A sweep on a page: its table as it was written, and where its figures were drawn for the page. Internal to
 * bench/page. */
#pragma once

#include <jansson.h>

#include "bench/record/csv_reader.h"
#include "bench/runner/files.h"

struct page_sweep {
    char path[PATH_BYTES];  /* of its folder */
    char drawn[PATH_BYTES]; /* folder with <figure>.svg */
    char id[80];            /* that ids of its elements begin with */
    const char *name;       /* of the table */
    struct csv_table table;
    json_t *manifest; /* NULL: there is none to read */
    size_t figures;   /* that were drawn */
};

/* Finds the sweep that an operand calls: its folder, or the name of that below `out` or in results/reference. False: it
 * is none. */
bool page_sweep_find(struct page_sweep *sweep, const char *operand, const char *out,
                     const char *home);
/* Reads the table of one that was found and draws its figures into `drawn`. Closed with page_sweep_close in any case. */
enum status page_sweep_open(struct page_sweep *sweep, const char *plots, struct error *e);
void page_sweep_close(struct page_sweep *sweep);

/* Its section: what the table says in short, its figures, all its rows, how it is run again, where it ran. */
enum status page_sweep_write(FILE *out, const struct page_sweep *sweep, struct error *e);
/* Its row of the overview. */
void page_sweep_overview(FILE *out, const struct page_sweep *sweep);
