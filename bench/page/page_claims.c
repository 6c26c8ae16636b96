#include "bench/page/page_claims.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "bench/base/log.h"
#include "bench/page/html.h"
#include "bench/page/markdown.h"

/* ---- Which ---- */

/* The name of the run's folder in reference/; NULL: it lies elsewhere. */
static const char *kept_name(const struct page_claims *claims, const struct page_run *run,
                             char resolved[PATH_MAX])
{
    size_t length = strlen(claims->reference);
    if (realpath(run->path, resolved) == NULL ||
        strncmp(resolved, claims->reference, length) != 0 || resolved[length] != '/')
        return NULL;
    return resolved + length + 1;
}

/* A ledger that cannot be judged, of runs that this page may not show, is no reason to have no page. */
static enum status judge_ledger(struct claims *ledger, const char *path, struct error *e)
{
    struct error why;
    enum status status = claims_judge(ledger, path, &why);
    if (status == ERR_MEMORY)
        *e = why;
    if (status == OK || status == ERR_MEMORY)
        return status;
    log_print(LOG_WARNING, "%s:%d: %s; the page is without the claims", why.file, why.line,
              why.text);
    claims_free(ledger);
    *ledger = (struct claims){.n = 0};
    return OK;
}

enum status page_claims_open(struct page_claims *claims, const struct page_run *runs, size_t n,
                             const char *home, struct error *e)
{
    char path[PATH_BYTES], resolved[PATH_MAX];
    bool rests = false;
    *claims = (struct page_claims){.runs = runs, .n_runs = n};
    TRY(path_format(path, e, "%s/results/reference", home));
    if (realpath(path, claims->reference) == NULL)
        return OK;
    for (size_t i = 0; i < n; i++)
        rests |= kept_name(claims, &runs[i], resolved) != NULL;
    TRY(path_format(path, e, "%s/results/claims.yaml", home));
    return rests && path_exists(path) ? judge_ledger(&claims->ledger, path, e) : OK;
}

void page_claims_close(struct page_claims *claims)
{
    claims_free(&claims->ledger);
}

/* ---- Numbers ---- */

/* The row of the page that "reference/kota_parts/summary.csv#L6" is: the sixth line holds the fifth point. */
static bool find_row(char row[160], const struct page_claims *claims,
                     const struct claim_value *value)
{
    char folder[80], resolved[PATH_MAX];
    unsigned line;
    int end = 0;
    if (value->rows == NULL ||
        sscanf(value->rows, "reference/%79[^/]/summary.csv#L%u%n", folder, &line, &end) != 2 ||
        value->rows[end] != '\0' || line < 2)
        return false;
    for (size_t i = 0; i < claims->n_runs; i++) {
        const struct page_run *run = &claims->runs[i];
        const char *name = kept_name(claims, run, resolved);
        if (name != NULL && strcmp(name, folder) == 0 && line - 1 <= run->s.n) {
            snprintf(row, 160, "%s-summary-%u", run->id, line - 1);
            return true;
        }
    }
    return false;
}

/* The row of the page that it stands in, of one that is not there or is made of several that of its claim, which names
 * them; NULL, the verdict, is there too. */
static void write_address(FILE *out, const void *arg, size_t index, const struct claim_value *value)
{
    char row[160];
    if (value != NULL && find_row(row, arg, value))
        fprintf(out, "#%s", row);
    else
        fprintf(out, "#claims-%zu", index + 1);
}

static void write_number(FILE *out, const struct page_claims *claims, size_t index,
                         const struct claim_value *value)
{
    char text[CLAIM_VALUE_TEXT];
    html_text(out, value->name);
    fputs(" <a href=\"", out);
    write_address(out, claims, index, value);
    fputs("\" title=\"", out);
    html_text(out, value->rows != NULL && value->rows[0] ? value->rows : value->text);
    fputs("\">", out);
    html_text(out, claim_value_text(text, value));
    fputs("</a>", out);
}

static void write_numbers(FILE *out, const struct page_claims *claims, size_t index)
{
    const struct claim *claim = &claims->ledger.claims[index];
    for (size_t i = 0; i < claim->n; i++) {
        fputs(i > 0 ? ", " : "", out);
        write_number(out, claims, index, &claim->values[i]);
    }
}

/* ---- The section ---- */

static const char *verdict_class(enum claim_verdict verdict)
{
    static const char *const classes[CLAIM_VERDICTS] = {
        [CLAIM_SURVIVES] = "good",
        [CLAIM_FAILS] = "bad",
        [CLAIM_UNDECIDED] = "undecided",
        [CLAIM_NOT_TESTABLE] = "none",
    };
    return classes[verdict];
}

static void write_claim(FILE *out, const struct page_claims *claims, size_t i)
{
    const struct claim *claim = &claims->ledger.claims[i];
    fprintf(out,
            "<tr id=\"claims-%zu\"><th scope=\"row\"><a href=\"#claims-%zu\">%zu</a></th>"
            "<td><span class=\"verdict %s\">%s</span></td><td class=\"wrap\">",
            i + 1, i + 1, i + 1, verdict_class(claim->verdict),
            claim_verdict_names[claim->verdict]);
    html_text(out, claim->says);
    fputs(" <small>", out);
    html_text(out, claim->place);
    fputs("</small></td><td class=\"wrap\">", out);
    bool judged = claim->verdict != CLAIM_NOT_TESTABLE;
    if (judged)
        write_numbers(out, claims, i);
    if (claim->reason[0]) {
        fputs(judged ? "; " : "", out);
        html_text(out, claim->reason);
    }
    fputs("</td><td class=\"wrap\">", out);
    html_text(out, claim->holds != NULL ? condition_text(claim->holds) : "");
    fputs("</td></tr>\n", out);
}

static void begin_report(FILE *out, const struct claims *ledger, size_t i)
{
    size_t length;
    const char *report = claim_report(&ledger->claims[i], &length);
    fprintf(out, "%s<details><summary>%.*s, ", i > 0 ? "</tbody></table></div>\n</details>\n" : "",
            (int)length, report);
    claims_write_counts(out, ledger, report, length);
    fputs("</summary>\n<div class=\"scroll\"><table><thead><tr><th class=\"n\">row</th>"
          "<th>verdict</th><th>claim, and its place in the report</th><th>numbers, or why not</th>"
          "<th>holds if</th></tr></thead><tbody>\n",
          out);
}

static enum status write_story(FILE *out, const struct page_claims *claims, struct error *e)
{
    char *story = NULL;
    enum status status = claims_tell_story(&story, &claims->ledger, write_address, claims, e);
    if (status == OK && story != NULL)
        markdown_write_html(out, story);
    free(story);
    return status;
}

enum status page_claims_write(FILE *out, const struct page_claims *claims, struct error *e)
{
    const struct claims *ledger = &claims->ledger;
    if (ledger->n == 0)
        return OK;
    fputs(
        "<section class=\"run\" id=\"claims\" aria-labelledby=\"claims-title\">\n"
        "<h2 id=\"claims-title\"><a href=\"#claims\">claims</a> <small>What the reports claim, and "
        "what becomes of it</small> <a class=\"up\" href=\"#contents\">contents</a></h2>\n<p>",
        out);
    claims_write_counts(out, ledger, NULL, 0);
    fputs(". A verdict is what the condition comes to wherever in their intervals the numbers lie; "
          "rows are those of "
          "results/claims.csv.</p>\n",
          out);
    TRY(write_story(out, claims, e));
    fputs("<h3>All claims</h3>\n", out);
    for (size_t i = 0; i < ledger->n; i++) {
        if (claim_begins_report(ledger, i))
            begin_report(out, ledger, i);
        write_claim(out, claims, i);
    }
    fputs("</tbody></table></div>\n</details>\n</section>\n", out);
    return OK;
}

void page_claims_overview(FILE *out, const struct page_claims *claims)
{
    const struct claims *ledger = &claims->ledger;
    if (ledger->n == 0)
        return;
    fputs("<p class=\"lead\"><a href=\"#claims\">What the reports claim: ", out);
    claims_write_counts(out, ledger, NULL, 0);
    fputs("</a></p>\n", out);
}
