#include "bench/page/page.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "bench/base/interrupt.h"
#include "bench/compare/operand.h"
#include "bench/figures/figures.h"
#include "bench/page/html.h"
#include "bench/page/page_claims.h"
#include "bench/page/page_run.h"
#include "bench/page/page_sweep.h"
#include "bench/page/scratch.h"
#include "bench/runner/run_spec.h"
#include "kernels/base/mem.h"
#include "kernels/base/names.h"

struct page {
    const struct page_request *request;
    struct page_run *runs;
    size_t n;
    struct page_sweep *sweeps; /* behind the runs */
    size_t n_sweeps;
    struct page_claims claims;
    struct scratch scratch; /* where figures are drawn */
    struct interrupt interrupt;
};

/* ---- Reading ---- */

static bool is_taken(const struct page *page, const char *id)
{
    static const char *const own[] = {"contents", "search", "found", "runs", "claims"};
    if (name_index(id, own, sizeof own / sizeof *own) >= 0)
        return true;
    for (size_t i = 0; i < page->n; i++)
        if (strcmp(page->runs[i].id, id) == 0)
            return true;
    for (size_t i = 0; i < page->n_sweeps; i++)
        if (strcmp(page->sweeps[i].id, id) == 0)
            return true;
    return false;
}

/* Told from those before it by a number. */
static void name_section(const struct page *page, char id[80], const char *called)
{
    char name[64];
    size_t n = 1;
    html_id(name, sizeof name, called);
    snprintf(id, 80, "%s", name);
    while (is_taken(page, id))
        snprintf(id, 80, "%s-%zu", name, ++n);
}

/* results/<campaign>/<time>-<digits> is a run of its campaign; several views on one run, each kept in a folder of
 * its own, have one campaign's name. */
static void name_run(struct page_run *run)
{
    const char *campaign = config_text(&run->spec.config, OPT_NAME);
    char resolved[PATH_MAX];
    snprintf(run->name, sizeof run->name, "%s", campaign);
    if (realpath(run->path, resolved) == NULL)
        return;
    char *own = strrchr(resolved, '/');
    *own++ = '\0';
    const char *parent = strrchr(resolved, '/');
    if (*own && (parent == NULL || strcmp(parent + 1, campaign) != 0))
        snprintf(run->name, sizeof run->name, "%.79s", own);
}

static enum status draw(struct page *page, struct page_run *run, struct error *e)
{
    char plots[PATH_BYTES];
    TRY(path_format(plots, e, "%s/plots", page->request->tools->home));
    TRY(scratch_add(&page->scratch, run->id, run->drawn, e));
    return figures_draw_page(&run->s, run->path, run->drawn, plots, e);
}

static enum status open_run(struct page *page, const char *operand, struct error *e)
{
    const struct page_request *request = page->request;
    struct page_run *run = &page->runs[page->n];
    char manifest[PATH_BYTES];
    TRY(operand_find(run->path, operand, request->out, request->tools->home, e));
    TRY(run_spec_load(&run->spec, run->path, NULL, e));
    TRY(summary_read(&run->s, &run->spec, run->path, e));
    TRY(path_format(manifest, e, "%s/manifest.json", run->path));
    run->manifest = json_load_file(manifest, 0, NULL);
    name_run(run);
    name_section(page, run->id, run->name);
    TRY(verdicts_make(&run->verdicts, &run->s, run->path, request->out, request->tools->home, e));
    return draw(page, run, e);
}

/* A sweep is called as its table. */
static enum status open_sweep(struct page *page, struct error *e)
{
    struct page_sweep *sweep = &page->sweeps[page->n_sweeps];
    char plots[PATH_BYTES], name[32];
    TRY(path_format(plots, e, "%s/plots", page->request->tools->home));
    snprintf(name, sizeof name, "%.*s", (int)strcspn(sweep->name, "."), sweep->name);
    name_section(page, sweep->id, name);
    TRY(scratch_add(&page->scratch, sweep->id, sweep->drawn, e));
    return page_sweep_open(sweep, plots, e);
}

static void close_run(struct page_run *run)
{
    json_decref(run->manifest);
    verdicts_free(&run->verdicts);
    summary_free(&run->s);
    spec_free(&run->spec);
}

/* ---- Writing ---- */

static enum status write_asset(FILE *out, const struct page *page, const char *name,
                               struct error *e)
{
    char path[PATH_BYTES];
    TRY(path_format(path, e, "%s/plots/%s", page->request->tools->home, name));
    return html_file(out, path, false, e);
}

static enum status write_head(FILE *out, const struct page *page, struct error *e)
{
    fputs("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
          "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
          "<meta name=\"color-scheme\" content=\"light dark\">\n"
          "<link rel=\"icon\" href=\"data:,\">\n<title>scalebench",
          out);
    for (size_t i = 0; page->n <= 3 && i < page->n; i++) {
        fputs(i > 0 ? ", " : ": ", out);
        html_text(out, page->runs[i].name);
    }
    fputs("</title>\n<style>\n", out);
    TRY(write_asset(out, page, "page.css", e));
    fputs("</style>\n</head>\n<body>\n", out);
    return OK;
}

static size_t count_figures(const struct page *page)
{
    size_t n = 0;
    for (size_t i = 0; i < page->n; i++)
        n += page->runs[i].spec.config.values[OPT_FIGURES].n;
    for (size_t i = 0; i < page->n_sweeps; i++)
        n += page->sweeps[i].figures;
    return n;
}

static void write_overview(FILE *out, const struct page *page)
{
    size_t figures = count_figures(page), runs = page->n + page->n_sweeps;
    fputs("<a class=\"skip\" href=\"#runs\">To the figures</a>\n<header>\n<h1>scalebench</h1>\n",
          out);
    fprintf(out, "<p class=\"lead\">%zu %s of %zu %s, drawn from their tables.</p>\n", figures,
            figures == 1 ? "figure" : "figures", runs, runs == 1 ? "run" : "runs");
    page_claims_overview(out, &page->claims);
    fputs("<p class=\"search\" hidden><label for=\"search\">Search figures</label> "
          "<input id=\"search\" type=\"search\" autocomplete=\"off\"> "
          "<output id=\"found\" for=\"search\"></output></p>\n</header>\n"
          "<nav id=\"contents\" aria-label=\"Contents\">\n<div "
          "class=\"scroll\"><table><thead><tr><th>run</th>"
          "<th>figures</th><th>kind</th><th class=\"n\">points ok</th>"
          "<th>beside published</th><th class=\"n\">rules met</th><th>begun</th>"
          "<th>processor</th></tr></thead><tbody>\n",
          out);
    for (size_t i = 0; i < page->n; i++)
        page_run_overview(out, &page->runs[i]);
    for (size_t i = 0; i < page->n_sweeps; i++)
        page_sweep_overview(out, &page->sweeps[i]);
    fputs("</tbody></table></div>\n</nav>\n", out);
}

static void write_legend(FILE *out)
{
    fputs(
        "<details class=\"legend\"><summary>How to read this page</summary>\n"
        "<p>A value is the median of launches, brackets hold its interval (95 % where nothing else "
        "is said). Each row of a table has an address of its own, the link at its beginning: "
        "<code>#run-figure-row</code> is that row of <code>series_figure.csv</code>.</p>\n<dl>\n"
        "<dt>measured</dt><dd>real computing, messages between processes of one machine or "
        "cluster</dd>\n"
        "<dt>emulated</dt><dd>real computing, hosts are network namespaces of one machine with "
        "shaped links</dd>\n"
        "<dt>replayed</dt><dd>computing is waiting as long as it took when it was calibrated, "
        "messages are real</dd>\n"
        "<dt>published</dt><dd>numbers that a report prints, drawn hollow; other machines ran "
        "them</dd>\n</dl>\n"
        "<p>Verdicts beside published numbers are on the whole interval of measured / published, "
        "95 % for each point by itself: the same within a margin, else better or worse, else "
        "undecided.</p>\n</details>\n",
        out);
}

static enum status write_page(FILE *out, const void *arg, struct error *e)
{
    const struct page *page = arg;
    TRY(write_head(out, page, e));
    write_overview(out, page);
    write_legend(out);
    fputs("<main id=\"runs\" tabindex=\"-1\">\n", out);
    TRY(page_claims_write(out, &page->claims, e));
    for (size_t i = 0; i < page->n; i++)
        TRY(page_run_write(out, &page->runs[i], e));
    for (size_t i = 0; i < page->n_sweeps; i++)
        TRY(page_sweep_write(out, &page->sweeps[i], e));
    fputs("</main>\n<script>\n", out);
    TRY(write_asset(out, page, "page.js", e));
    fputs("</script>\n</body>\n</html>\n", out);
    return OK;
}

static enum status open_operand(struct page *page, const char *operand, struct error *e)
{
    const struct page_request *request = page->request;
    bool sweep =
        page_sweep_find(&page->sweeps[page->n_sweeps], operand, request->out, request->tools->home);
    enum status status = sweep ? open_sweep(page, e) : open_run(page, operand, e);
    *(sweep ? &page->n_sweeps : &page->n) += 1;
    return status;
}

static enum status make(struct page *page, struct error *e)
{
    const struct page_request *request = page->request;
    TRY(MEM_NEW(page->runs, request->n_operands, "the runs of a page", e));
    TRY(MEM_NEW(page->sweeps, request->n_operands, "the sweeps of a page", e));
    for (size_t i = 0; i < request->n_operands; i++) {
        TRY(open_operand(page, request->operands[i], e));
        if (interrupt_look(&page->interrupt))
            return error_set(e, ERR_INTERRUPTED, "interrupted");
    }
    TRY(page_claims_open(&page->claims, page->runs, page->n, request->tools->home, e));
    return file_write(request->path, write_page, page, e);
}

/* Interrupts wait until the folder of a run is whole, so that none stays. */
static enum status make_in_scratch(struct page *page, struct error *e)
{
    TRY(scratch_open(&page->scratch, e));
    enum status status = make(page, e);
    scratch_close(&page->scratch);
    return status;
}

enum status page_make(const struct page_request *request, struct page_result *result,
                      struct error *e)
{
    struct page page = {.request = request};
    TRY(interrupt_begin(&page.interrupt, e));
    enum status status = make_in_scratch(&page, e);
    *result = (struct page_result){page.n + page.n_sweeps, status == OK ? count_figures(&page) : 0};
    for (size_t i = 0; i < page.n; i++)
        close_run(&page.runs[i]);
    for (size_t i = 0; i < page.n_sweeps; i++)
        page_sweep_close(&page.sweeps[i]);
    page_claims_close(&page.claims);
    free(page.runs);
    free(page.sweeps);
    interrupt_end(&page.interrupt);
    return status;
}
