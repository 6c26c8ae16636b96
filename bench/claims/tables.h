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
 * for a malformed name, an unknown run or a missing published table, ERR_DATA for an unreadable
 * table. */
enum status claim_tables_find(const struct claim_table **found, struct claims *c, const char *file,
                              struct mark mark, struct error *e);

static inline const struct csv_table *claim_csv_of(const struct claim_table *table)
{
    return &table->rows.run.summary;
}

/* Returns whether row `row` of the table has this text in a column. If the table lacks the column,
 * the row's text is "". */
bool claim_has_text(const struct claim_table *table, size_t row, const char *column,
                    const char *text);

/* Appends the launches behind a cell (rows of raw.csv) to need->used. A ratio to a base also uses
 * the base's launches. Adds the number of launches of the cell's own points to *n. */
enum status claim_use_cell(struct claim_need *need, size_t *n, const struct claim_table *raw,
                           const struct claim_value *value, struct error *e);

/* Values of a cell, one per launch. Free `x` and `launches`, but not the texts in `launches`. */
struct claim_sample {
    double *x;             /* [n] value of each launch, from the cell's own table or from raw.csv;
                              NAN if missing there */
    const char **launches; /* [n] names of the launches, such as "p3-time-2" */
    size_t n;
    const struct node *run; /* run that contains the launches: its entry in `runs` of the claims
                               file */
};

/* Finds the launches behind a cell, and the cell's value in each launch. If a launch has several
 * rows, the value is their median. Reads the cell's own table if that table has a column `launch`,
 * else raw.csv if the cell has exactly one row. s->n is 0 if no launch is found. Free s->x and
 * s->launches, also after an error. */
enum status claim_find_sample(struct claim_sample *s, struct claims *c,
                              const struct claim_value *value, struct error *e);

/* A value "a - b" or "a / b". a and b are cells in tables of runs; each is a median over
 * launches. */
struct claim_contrast {
    const struct claim_value *of[2]; /* operands a and b */
    bool ratio;
};
bool claim_read_contrast(struct claim_contrast *k, const struct claim *claim, size_t i);
