/* One page of runs, in a file of its own that needs no network and no script: every figure with the table
 * behind it, what was published beside what was measured, how it is run again, where it was run, its
 * grades. Figures are drawn anew from the tables, in a folder that goes afterwards; nothing is written to
 * the runs. */
#pragma once

#include "bench/runner/tools.h"
#include "kernels/base/error.h"

struct page_request {
    const char *path;            /* of the page */
    const char *const *operands; /* runs and sweeps as a user calls them, see compare/operand.h */
    size_t n_operands;
    const char *out; /* folder of all results */
    const struct tools *tools;
};

struct page_result {
    size_t runs, figures;
};

/* ERR_ARGUMENT, ERR_DATA for operands that are no runs with tables; ERR_UNAVAILABLE without gnuplot. Where
 * it fails, a page that was there stays as it is. */
enum status page_make(const struct page_request *request, struct page_result *result,
                      struct error *e);
