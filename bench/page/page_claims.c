/* The ledger of claims and its story, in the Markdown of results/, with the line of results/ that each number stands in. */
#include <stdlib.h>

#include "bench/base/log.h"
#include "bench/claims/claims.h"
#include "bench/page/section.h"

/* The row of the claim on the page, and where the number is seen from the claims' folder. */
static void print_address(FILE *out, const void *arg, size_t index, const struct claim_value *value)
{
    (void)arg;
    fprintf(out, "#claims-%zu;", index + 1);
    claim_write_address(out, value, index);
}

static void print_counts(FILE *out, const void *ledger)
{
    claims_write_counts(out, ledger, NULL, 0);
}

static void print_ledger(FILE *out, const void *ledger)
{
    claims_write_markdown(out, ledger);
}

static enum status add_ledger(json_t *page, const struct claims *ledger, struct error *e)
{
    char *story = NULL;
    TRY(claims_tell_story(&story, ledger, print_address, NULL, e));
    json_t *section = json_pack("{s:o, s:o, s:o}", "counts", data_print(print_counts, ledger),
                                "story", data_text(story != NULL ? story : ""), "ledger",
                                data_print(print_ledger, ledger));
    free(story);
    return json_object_set_new(page, "claims", section) == 0 ? OK : error_no_memory(e, "a page");
}

/* A ledger that cannot be judged, of runs that this page may not show, is no reason to have no page. */
static enum status judge(json_t *page, const char *path, struct error *e)
{
    struct error why;
    struct claims ledger;
    enum status status = claims_judge(&ledger, path, &why);
    if (status != OK && status != ERR_MEMORY)
        log_print(LOG_WARNING, "%s:%d: %s; the page is without the claims", why.file, why.line,
                  why.text);
    else if (status == ERR_MEMORY)
        *e = why;
    else if (ledger.n > 0)
        status = add_ledger(page, &ledger, e);
    claims_free(&ledger);
    return status == ERR_MEMORY ? status : OK;
}

enum status section_add_claims(json_t *page, const char *home, struct error *e)
{
    char path[PATH_BYTES];
    TRY(path_format(path, e, "%s/results/claims.yaml", home));
    return json_object_get(page, "keeps") != NULL && path_exists(path) ? judge(page, path, e) : OK;
}
