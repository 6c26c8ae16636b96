/* Links that option site.link names: rows of nodes/links.def. */
#pragma once

#include "bench/spec/enumerations.h"
#include "kernels/base/stats.h"

/* Coefficients of a named link, each with a 95 % interval: alpha (us), beta (ns per
 * byte sent), gamma (ns per byte added). Published coefficients have no interval (lo and hi are
 * NAN) and no gamma (NAN). */
struct named_link {
    struct interval alpha_us, beta_ns, gamma_ns;
    const char *file; /* CSV file below results/reference; NULL: published coefficients */
};
/* Returns the row of a link; NULL for LINK_none. */
const struct named_link *named_link(enum link_kind link);
/* Returns the LINK_PACES percentiles of a link's message times, divided by the median for messages
 * of the same size (`paces` of struct link_model, comm/cost/sweep.h). All 0: no scatter. */
const double *named_link_paces(enum link_kind link);
