/* One table that claims rest on. Internal to bench/claims. */
#pragma once

#include "bench/claims/claims.h"
#include "bench/compare/checks.h"

struct claim_table {
    char file[256];         /* as claims call it */
    char link[272];         /* seen from the folder of the claims */
    const struct node *run; /* its entry in `runs`; NULL: published numbers */
    bool there;
    struct checking rows; /* as points of a check */
};

/* The table of that name, read where that was not done yet; *found stays until the claims are freed. ERR_SPEC
 * at `mark` for a name that is none, ERR_DATA for a table that cannot be read. */
enum status claim_tables_find(const struct claim_table **found, struct claims *c, const char *file,
                              struct mark mark, struct error *e);
