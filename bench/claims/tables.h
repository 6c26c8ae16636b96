/* CSV tables whose cells are values of claims. Internal to bench/claims. */
#pragma once

#include "bench/claims/claims.h"
#include "bench/compare/checks.h"

struct claim_table {
    char file[256];         /* name of the table in a claims file, such as "overlap/summary.csv" */
    char link[272];         /* path of the table, relative to the folder of the claims file */
    const struct node *run; /* the table's run in `runs` of the claims file; NULL: published
                               numbers */
    bool there;
    struct checking rows; /* rows of the table, in the form that `scalebench check` evaluates */
};

/* Finds a table by its name in a claims file; reads it at its first use. *found is valid until
 * claims_free. If the run is not measured yet, (*found)->there is false. Errors: ERR_SPEC at `mark`
 * for a malformed or unlisted name, ERR_DATA for a table that cannot be read. */
enum status claim_tables_find(const struct claim_table **found, struct claims *c, const char *file,
                              struct mark mark, struct error *e);
