#include <string.h>
#include <strings.h>

#include "bench/compare/operand.h"
#include "bench/page/page.h"
#include "bench/runner/commands/commands.h"
#include "bench/runner/commands/with_tables.h"
#include "bench/spec/find.h"
#include "kernels/base/text.h"

static bool find(char path[PATH_BYTES], const struct page_request *request, size_t operand)
{
    struct error none;
    const char *name = request->operands[operand], *home = request->tools->home;
    return operand_find_sweep(path, name, request->out, home) != NULL ||
           operand_find(path, name, request->out, home, &none) == OK;
}

static enum status check_operands(const struct page_request *request, struct error *e)
{
    char path[PATH_BYTES], other[PATH_BYTES];
    for (size_t i = 0; i < request->n_operands; i++)
        for (size_t k = 0; k < i; k++)
            if (find(path, request, i) && find(other, request, k) && find_is_same(path, other))
                return error_set(
                    e, ERR_ARGUMENT,
                    "report: '%s' and an earlier operand name the same folder %s. Leave one of the "
                    "two out",
                    request->operands[i], other);
    return OK;
}

/* Returns whether a path has a file ending other than .html or .htm. Devices such as /dev/stdout
 * have no ending. */
static bool is_other_format(const char *path)
{
    const char *slash = strrchr(path, '/'), *dot = strrchr(slash != NULL ? slash : path, '.');
    return dot != NULL && strcasecmp(dot, ".html") != 0 && strcasecmp(dot, ".htm") != 0;
}

static enum status check_request(const struct page_request *request, struct error *e)
{
    if (path_is_folder(request->path))
        return error_set(e, ERR_ARGUMENT, "report: --output: expected a file, but %s is a folder",
                         request->path);
    if (is_other_format(request->path))
        return error_set(e, ERR_ARGUMENT,
                         "report: --output %s: expected a name that ends in .html. To make a PDF, "
                         "print the page from a browser",
                         request->path);
    return check_operands(request, e);
}

/* Writes the page about the runs and sweeps that the user named. If the user named none, the page
 * shows those that with_tables.h finds, and *all gets their folders. The caller frees *all. */
static enum status make(struct page_request *request, struct page_result *result,
                        struct with_tables *all, struct error *e)
{
    TRY(check_request(request, e));
    if (request->n_operands == 0) {
        TRY(with_tables_runs(all, request->out, request->tools, e));
        TRY(with_tables_sweeps(all, request->out, request->tools, e));
        request->operands = (const char *const *)all->folders;
        request->n_operands = all->n;
    }
    if (request->n_operands == 0)
        return error_set(e, ERR_ARGUMENT,
                         "report: no run with tables found in %s or results/reference. Run a "
                         "campaign, or name a run",
                         request->out);
    return page_make(request, result, e);
}

enum status command_report(const struct arguments *a, FILE *out, int *exit_status, struct error *e)
{
    char figures[TEXT_NUMBER], runs[TEXT_NUMBER];
    struct page_request request = {.path = a->output != NULL ? a->output : "report.html",
                                   .operands = a->operands,
                                   .n_operands = a->n_operands,
                                   .out = a->out,
                                   .tools = a->tools};
    struct with_tables all = {.n = 0};
    struct page_result result;
    enum status status = make(&request, &result, &all, e);
    with_tables_free(&all);
    TRY(status);
    fprintf(out, "%s: %s of %s\n", request.path,
            text_plural(figures, (long)result.figures, "figure"),
            text_plural(runs, (long)result.runs, "run"));
    return OK;
}
