/* Report of a run: tables, figures and the state of its points. */
#pragma once

#include <stdbool.h>
#include <stdio.h>

#include "bench/record/journal.h"
#include "bench/runner/tools.h"
#include "bench/spec/spec.h"
#include "kernels/base/error.h"

struct report_request {
    const char *run_dir;
    const char *shown; /* name of the folder in messages */
    bool write;        /* write the CSV files */
    bool draw;         /* draw the figures */
    bool spare;        /* print a note instead of an error if gnuplot is missing */
    bool strict;       /* treat a rule of Hoefler and Belli that is not met as a failed point */
    FILE *table;       /* stream of the closing table; NULL: none */
    size_t
        n_reported; /* number of launches, the last of the journal, whose failures this command has already printed */
    struct journal *journal; /* journal open for writing, if the caller runs launches; else NULL */
};

struct report_result {
    bool all_well;  /* no point failed or is unverified; if `strict`, all rules are met */
    size_t damaged; /* number of launches taken back; if not 0, nothing else was done */
};

/* Reads the journal and the records of a run, or its tables if the copy has no journal, and
 * produces what `request` asks for. Tables that were read are not written. Points that are not
 * ok are named on standard error if a table is printed. A figure that cannot be drawn is an
 * error, but the table is printed first. If `journal` is given, successful launches with
 * unreadable records are taken back. */
enum status report_make(const struct spec *spec, const struct report_request *request,
                        const struct tools *tools, struct report_result *result, struct error *e);
