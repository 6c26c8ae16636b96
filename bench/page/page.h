/* Writes runs and sweeps as one HTML file that works without an internet connection or scripts.
 * Figures are drawn again in a temporary folder; the runs' folders do not change. */
#pragma once

#include "bench/runner/tools.h"
#include "kernels/base/error.h"

struct page_request {
    const char *path;
    const char *const *operands; /* runs and sweeps as the user names them (compare/operand.h) */
    size_t n_operands;
    const char *out; /* folder of all results */
    const struct tools *tools;
};

struct page_result {
    size_t runs, figures;
};

/* Writes the page. ERR_ARGUMENT or ERR_DATA if an operand is neither a run with tables nor a sweep,
 * ERR_UNAVAILABLE without gnuplot, ERR_INTERRUPTED after an interrupt. On error, an older page
 * stays unchanged. */
enum status page_make(const struct page_request *request, struct page_result *result,
                      struct error *e);
