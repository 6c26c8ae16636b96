/* What a run ends with: tables, figures, and how its points fared. */
#pragma once

#include <stdbool.h>
#include <stdio.h>

#include "bench/record/journal.h"
#include "bench/runner/tools.h"
#include "bench/spec/spec.h"
#include "kernels/base/error.h"

struct report_request {
    const char *run_dir;
    const char *shown; /* the folder as the user would type it */
    bool write;        /* the CSV files */
    bool draw;         /* figures */
    bool spare;        /* where there is no gnuplot, that is a note and no error */
    bool strict;       /* a rule of Hoefler and Belli that is not met is as bad as a failed point */
    FILE *table;       /* the closing table; NULL: none */
    size_t n_reported; /* last launches of the journal whose failures this command has printed */
    struct journal *journal; /* open for writing, of who runs launches; or NULL */
};

struct report_result {
    bool all_well;  /* no point has failed or is unverified, and what is `strict` holds */
    size_t damaged; /* launches that were taken back; where there are any, nothing else was done */
};

/* Reads the run's journal and records, or where a copy of it has none its tables, then does what is
 * asked; tables that were read are not written. Points that are not ok are named on standard error
 * when a table is wanted. A figure that cannot be drawn is an error, but the table is printed
 * before. Given a journal, launches that ended well and whose records do not read any more are
 * taken back. */
enum status report_make(const struct spec *spec, const struct report_request *request,
                        const struct tools *tools, struct report_result *result, struct error *e);
