/* A run of a page: its spec, its tables as they were read, and where its figures were drawn for the
 * page. Internal to bench/page. */
#pragma once

#include <jansson.h>

#include "bench/collect/collect.h"
#include "bench/page/verdict.h"
#include "bench/runner/files.h"

struct page_run {
    char path[PATH_BYTES];  /* of its folder */
    char drawn[PATH_BYTES]; /* folder with <figure>.svg, <figure>.txt and series_<figure>.csv */
    char name[80]; /* of its campaign; of a folder elsewhere, as of a view that is kept, its own */
    char id[80];   /* that ids of its elements begin with */
    struct spec spec;
    struct summary s;
    struct verdicts verdicts; /* measured beside published */
    json_t *manifest;         /* NULL: there is none to read */
};

/* Ids of rows: <run>-<table>-<row of the CSV file, from 1>. */

/* The section of a run: what its numbers say, its points, its figures, how to run it again, where it
 * ran, its grades. */
enum status page_run_write(FILE *out, const struct page_run *run, struct error *e);

/* Inside: what tells the run from others in a line ("2026-11-22", "12 of 12"), for the overview. */
void page_run_overview(FILE *out, const struct page_run *run);

/* Id of a figure: "<run>-<name>", of one that is called as a table of the run itself "<run>-<name>-figure". */
void page_figure_id(char id[160], const struct page_run *run, const struct figure_request *figure);

/* Inside: one figure; what machine, programs and facts the manifest tells; how to run it again. */
enum status page_figure_write(FILE *out, const struct page_run *run,
                              const struct figure_request *figure, struct error *e);
void page_provenance_write(FILE *out, const json_t *manifest);
enum status page_again_write(FILE *out, const struct page_run *run, struct error *e);
/* The same of the sweep whose table lies there. */
void page_again_write_sweep(FILE *out, const json_t *manifest, const char *table);
