/* Reports a run: writes its tables, draws its figures, prints the state of its points. */
#pragma once

#include <stdbool.h>
#include <stdio.h>

#include "bench/record/journal.h"
#include "bench/runner/tools.h"
#include "bench/spec/spec.h"
#include "kernels/base/error.h"

struct report_request {
    const char *run_dir;
    const char *shown;     /* name of the run's folder in messages */
    bool write;            /* whether to write the CSV files */
    bool draw;             /* whether to draw the figures */
    bool figures_optional; /* whether a missing gnuplot is a note, not an error */
    bool strict;           /* whether to fail if a rule of Hoefler and Belli is not met */
    FILE *table;           /* stream to which the table is printed; NULL: none */
    /* number of launches that this command ran, which are the last in the journal. Failures of
     * these launches are already printed */
    size_t n_reported;
    /* writable journal, to retry damaged launches; NULL: do not retry them */
    struct journal *journal;
};

struct report_result {
    bool all_well; /* false if a point makes the campaign fail, a printed sweep has a wrong result
                      or, with `strict`, a rule of Hoefler and Belli is not met */
    /* number of launches marked for a retry because their records are damaged; if not 0,
     * report_make wrote, drew and printed nothing */
    size_t damaged;
};

/* Reads the journal and the records of a run. If request->journal is NULL, reads the run's tables
 * instead in two cases: the journal is missing, or all records are missing but summary.csv exists.
 * Writes, draws and prints as `request` specifies, but does not overwrite tables that it has read.
 * If request->table is set, also prints points that are not ok on standard error. If a figure
 * cannot be drawn, returns the error after printing the table. Exception: if request->journal is
 * set and finished launches have no readable records, only marks these launches for a retry and
 * sets result->damaged to their number. */
enum status report_make(const struct spec *spec, const struct report_request *request,
                        const struct tools *tools, struct report_result *result, struct error *e);
