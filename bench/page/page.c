#include "bench/page/page.h"

#include "bench/base/interrupt.h"
#include "bench/base/scratch.h"
#include "bench/compare/operand.h"
#include "bench/page/fill.h"
#include "bench/page/section.h"

struct page {
    const struct page_request *request;
    json_t *data; /* the page's content, which the template shows */
    struct interrupt interrupt;
};

static enum status add_asset(struct page *page, const char *key, const char *name, struct error *e)
{
    char path[PATH_BYTES];
    TRY(path_format(path, e, "%s/plots/%s", page->request->tools->home, name));
    return data_add_file(page->data, key, path, e);
}

/* ---- Sections ---- */

static size_t count_figures(const json_t *sections)
{
    size_t n = 0, i;
    json_t *section;
    json_array_foreach((json_t *)sections, i, section) n +=
        json_array_size(json_object_get(section, "figures"));
    return n;
}

static enum status add_section(const struct section_source *from, const char *operand,
                               struct error *e)
{
    char path[PATH_BYTES];
    const struct page_request *request = from->request;
    const char *sweep = operand_find_sweep(path, operand, request->out, request->tools->home);
    return sweep != NULL ? section_add_sweep(from, path, sweep, e)
                         : section_add_run(from, operand, e);
}

/* Adds the section of an operand (a run or a sweep). An interrupt takes effect only after the
 * section, so that the section's temporary folder is removed. */
static enum status add_operand(struct page *page, const char *operand, struct error *e)
{
    char scratch[PATH_BYTES];
    TRY(scratch_open(scratch, sizeof scratch, e));
    const struct section_source from = {page->request, page->data, scratch,
                                        page->request->tools->plots};
    enum status status = add_section(&from, operand, e);
    scratch_close(scratch);
    if (status == OK && interrupt_look(&page->interrupt))
        status = error_set(e, ERR_INTERRUPTED, "interrupted");
    return status;
}

/* Adds a section for each run and each sweep, and the claims. In the page's data, the sections of
 * runs come before the sections of sweeps. */
static enum status add_sections(struct page *page, struct page_result *result, struct error *e)
{
    const struct page_request *request = page->request;
    json_t *runs = json_object_get(page->data, "runs");
    for (size_t i = 0; i < request->n_operands; i++)
        TRY(add_operand(page, request->operands[i], e));
    TRY(section_add_claims(page->data, request->tools->home, e));
    json_array_extend(runs, json_object_get(page->data, "sweeps"));
    *result = (struct page_result){json_array_size(runs), count_figures(runs)};
    return OK;
}

/* ---- The file ---- */

static enum status write_page(FILE *out, const void *arg, struct error *e)
{
    const struct page *page = arg;
    fill_template(out, json_string_value(json_object_get(page->data, "template")), page->data);
    return OK;
}

static enum status make(struct page *page, struct page_result *result, struct error *e)
{
    if (page->data == NULL)
        return error_no_memory(e, "a page");
    TRY(add_asset(page, "template", "page.html", e));
    TRY(add_asset(page, "style", "page.css", e));
    TRY(add_asset(page, "script", "page.js", e));
    TRY(add_sections(page, result, e));
    return file_write(page->request->path, write_page, page, e);
}

/* Creates the page's data: titles of quantities by name, and the HTML ids that the template itself
 * uses. */
static json_t *new_page(void)
{
    json_t *titles = json_object();
#define QUANTITY(name, title, ...) json_object_set_new(titles, #name, json_string(title));
#include "bench/spec/quantities.def"
    return json_pack("{s:[], s:[], s:o, s:{s:b, s:b, s:b, s:b, s:b, s:b}}", "runs", "sweeps",
                     "quantities", titles, "ids", "contents", 1, "search", 1, "found", 1, "runs", 1,
                     "claims", 1, "quantities", 1);
}

enum status page_make(const struct page_request *request, struct page_result *result,
                      struct error *e)
{
    struct page page = {.request = request, .data = new_page()};
    *result = (struct page_result){0, 0};
    TRY(interrupt_begin(&page.interrupt, e));
    enum status status = make(&page, result, e);
    json_decref(page.data);
    interrupt_end(&page.interrupt);
    return status;
}
