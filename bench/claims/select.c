/* Selects all claims of a report or a run, or a single claim. */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "bench/claims/tables.h"
#include "kernels/base/names.h"

/* Returns whether `name` equals the part of `text` before its first slash. */
static bool is_part(const char *text, const char *name)
{
    size_t length = strcspn(text, "/");
    return strlen(name) == length && strncmp(text, name, length) == 0;
}

static bool is_of(const struct claim *claim, const char *of)
{
    bool is = strcmp(claim->id, of) == 0 || is_part(claim->id, of);
    for (size_t i = 0; i < claim->n && !is; i++) {
        const struct claim_table *table = claim->values[i].table;
        is = table != NULL && table->run != NULL && strcmp(table->run->key, of) == 0;
    }
    return is;
}

enum { REPORTS_MOST = 16, KNOWN_MOST = 128, REPORT_BYTES = 64 };

/* Lists the first REPORTS_MOST reports, each once, by its name: the part of a claim's id before the
 * first slash. Returns the number of reports listed. */
static size_t list_reports(char reports[REPORTS_MOST][REPORT_BYTES], const struct claims *c)
{
    size_t n = 0;
    for (size_t i = 0; i < c->n && n < REPORTS_MOST; i++) {
        bool known = false;
        for (size_t k = 0; k < n && !known; k++)
            known = is_part(c->claims[i].id, reports[k]);
        if (!known)
            snprintf(reports[n++], REPORT_BYTES, "%.*s", (int)strcspn(c->claims[i].id, "/"),
                     c->claims[i].id);
    }
    return n;
}

static enum status refuse(const struct claims *c, const char *of, struct error *e)
{
    const struct node *runs = node_find(&c->root, "runs");
    const char *known[KNOWN_MOST];
    char text[2048], reports[REPORTS_MOST][REPORT_BYTES];
    size_t n = list_reports(reports, c);
    for (size_t i = 0; i < n; i++)
        known[i] = reports[i];
    for (size_t i = 0; runs != NULL && i < runs->n && n < KNOWN_MOST; i++)
        known[n++] = runs->items[i].key;
    return error_set(e, ERR_ARGUMENT,
                     "claims: --of: expected the name of a report, claim or run, but %s",
                     name_explain(text, sizeof text, of, known, n));
}

enum status claims_select(struct claims *c, const char *of, struct error *e)
{
    size_t left = 0;
    for (size_t i = 0; i < c->n; i++) {
        c->claims[i].left_out = !is_of(&c->claims[i], of);
        left += !c->claims[i].left_out;
    }
    return left > 0 ? OK : refuse(c, of, e);
}
