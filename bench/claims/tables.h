/* A table that claims use. Internal to bench/claims. */
#pragma once

#include "bench/claims/claims.h"
#include "bench/compare/checks.h"

struct claim_table {
    char file[256];         /* name of the file in claims, such as "overlap/summary.csv" */
    char link[272];         /* path of the file, relative to the folder of the claims */
    const struct node *run; /* entry in `runs` of the claims; NULL: published numbers */
    bool there;
    struct checking rows; /* rows of the table as points of a check */
};

/* Finds a table by name; reads it at first use. *found is valid until claims_free. Errors: ERR_SPEC
 * at `mark` for a malformed or unlisted name, ERR_DATA for a table that cannot be read. A table of
 * a run that is not measured yet has there = false. */
enum status claim_tables_find(const struct claim_table **found, struct claims *c, const char *file,
                              struct mark mark, struct error *e);
