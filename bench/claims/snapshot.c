/* Compares verdicts with an earlier claims.csv. */
#include <string.h>

#include "bench/claims/claims.h"
#include "bench/record/csv_reader.h"

static const char *verdict_before(const struct csv_table *table, const char *id)
{
    for (size_t row = 0; row < table->rows; row++)
        if (strcmp(csv_table_text(table, row, "id"), id) == 0)
            return csv_table_text(table, row, "verdict");
    return NULL;
}

static bool is_claim(const struct claims *c, const char *name)
{
    for (size_t i = 0; i < c->n; i++)
        if (strcmp(c->claims[i].id, name) == 0)
            return true;
    return false;
}

static enum status compare(FILE *out, const struct claims *c, const struct csv_table *table,
                           size_t *differing, struct error *e)
{
    size_t id, verdict;
    const struct csv_wanted wanted[] = {{"id", &id}, {"verdict", &verdict}};
    TRY(csv_table_columns(table, wanted, 2, e));
    for (size_t i = 0; i < c->n; i++) {
        const char *is = claim_verdict_names[c->claims[i].verdict];
        const char *was = verdict_before(table, c->claims[i].id);
        if (was != NULL && strcmp(was, is) == 0)
            continue;
        ++*differing;
        fprintf(out, "%s: %s%s, is %s\n", c->claims[i].id, was != NULL ? "was " : "new",
                was != NULL ? was : "", is);
    }
    for (size_t row = 0; row < table->rows; row++)
        if (!is_claim(c, csv_table_cell(table, row, id))) {
            ++*differing;
            fprintf(out, "%s: was %s, the claim is missing now\n", csv_table_cell(table, row, id),
                    csv_table_cell(table, row, verdict));
        }
    return OK;
}

enum status claims_compare(FILE *out, const struct claims *c, const char *path, size_t *differing,
                           struct error *e)
{
    struct csv_table table = {0};
    *differing = 0;
    if (!path_exists(path)) {
        *differing = c->n;
        fprintf(out, "%s not found: every verdict is new\n", path);
        return OK;
    }
    enum status status = csv_table_read(&table, path, e);
    THEN(status, compare(out, c, &table, differing, e));
    csv_table_free(&table);
    return status;
}
