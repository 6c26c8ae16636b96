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

static inline const struct csv_table *claim_csv_of(const struct claim_table *table)
{
    return &table->rows.run.summary;
}

/* Returns whether the table's row has the text in a column; false without the column. */
bool claim_has_text(const struct claim_table *table, size_t row, const char *column,
                    const char *text);

/* Adds the launches of a cell, rows of its run's raw.csv, to need->used; *n counts those of its own
 * points. Ratios to a base also use the base's launches. */
enum status claim_use_cell(struct claim_need *need, size_t *n, const struct claim_table *raw,
                           const struct claim_value *value, struct error *e);

/* Finds the values of a cell, one per launch; NAN if raw.csv lacks the column. Free *x, also after an
 * error. */
enum status claim_sample(double **x, size_t *n, const struct claim_table *raw,
                         const struct claim_value *value, struct error *e);

/* Judges a claim by the exact interval of the shift or ratio of two samples, for each value that is
 * the difference or quotient of two cells. *at is a copy of the claim, whose values this function
 * changes. Sets need->two_samples of the claim. */
enum status claim_judge_samples(struct claim *at, struct claim *claim, struct claims *c,
                                struct error *e);
