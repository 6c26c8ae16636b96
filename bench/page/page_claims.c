/* Adds a section to an HTML page: the claims, their verdicts, and the text of results/README.md
 * that links to the claims. */
#include <stdlib.h>
#include <string.h>

#include "bench/base/log.h"
#include "bench/claims/claims.h"
#include "bench/page/section.h"

struct story {
    const struct claims *ledger;
    const char *text;
};

/* Returns the number (from 1) of the claim to whose verdict or value the link points; 0 if the link
 * points to no claim. */
static size_t find_claim(const struct claims *ledger, const struct story_link *link)
{
    char own[CLAIM_ADDRESS];
    for (size_t i = 0; i < ledger->n; i++)
        for (size_t k = 0; k <= ledger->claims[i].n; k++) {
            claim_address(own, k > 0 ? &ledger->claims[i].values[k - 1] : NULL, i);
            if (strlen(own) == link->address_length &&
                memcmp(own, link->address, link->address_length) == 0)
                return i + 1;
        }
    return 0;
}

/* Prints a Markdown link with two targets: the claim's row on the page, if a claim is found, and
 * the link's original address. */
static void print_link(FILE *out, const struct claims *ledger, const struct story_link *link)
{
    size_t claim = find_claim(ledger, link);
    fprintf(out, "[%.*s](", (int)link->words_length, link->words);
    if (claim > 0)
        fprintf(out, "#claims-%zu;", claim);
    fprintf(out, "%.*s)", (int)link->address_length, link->address);
}

static void print_story(FILE *out, const void *arg)
{
    const struct story *story = arg;
    struct story_link link;
    for (const char *at = story->text; *at;) {
        if (*at != '[' || !story_link_at(&link, at)) {
            fputc(*at++, out);
            continue;
        }
        print_link(out, story->ledger, &link);
        at = link.address + link.address_length + 1;
    }
}

static void print_counts(FILE *out, const void *ledger)
{
    claims_write_counts(out, ledger, NULL);
}

static void print_ledger(FILE *out, const void *ledger)
{
    claims_write_markdown(out, ledger);
}

static enum status add_ledger(json_t *page, const struct claims *ledger, struct error *e)
{
    char *text;
    int line;
    TRY(claims_read_story(&text, &line, ledger, e));
    const struct story story = {ledger, text != NULL ? text : ""};
    json_t *section =
        json_pack("{s:o, s:o, s:o}", "counts", data_print(print_counts, ledger), "story",
                  data_print(print_story, &story), "ledger", data_print(print_ledger, ledger));
    free(text);
    return json_object_set_new(page, "claims", section) == 0 ? OK : error_no_memory(e, "a page");
}

/* Adds the claims with their verdicts to the page. If judging the claims fails, prints a warning
 * and adds no claims. Returns OK or ERR_MEMORY. */
static enum status judge(json_t *page, const char *path, struct error *e)
{
    struct error why;
    struct claims ledger;
    enum status status = claims_judge(&ledger, path, &why);
    if (status != OK && status != ERR_MEMORY)
        log_print(LOG_WARNING, "%s:%d: %s; therefore the page omits all claims", why.file, why.line,
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
