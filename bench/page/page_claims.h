/* What the reports claim, and what becomes of it: the ledger, on a page that shows a run which it rests on.
 * Internal to bench/page. */
#pragma once

#include <limits.h>

#include "bench/claims/claims.h"
#include "bench/page/page_run.h"

struct page_claims {
    struct claims ledger;
    char reference[PATH_MAX];    /* that its runs lie in */
    const struct page_run *runs; /* of the page, borrowed */
    size_t n_runs;
};

/* Judges results/claims.yaml below `home` where one of the runs lies in reference/ beside it, else holds no claim.
 * Freed with page_claims_close in any case. */
enum status page_claims_open(struct page_claims *claims, const struct page_run *runs, size_t n,
                             const char *home, struct error *e);
void page_claims_close(struct page_claims *claims);

/* A section, the story and a table a report: each number links to the row of the page that it stands in. Nothing without
 * claims. */
enum status page_claims_write(FILE *out, const struct page_claims *claims, struct error *e);

/* A line above the contents. */
void page_claims_overview(FILE *out, const struct page_claims *claims);
