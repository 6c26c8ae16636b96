#include "bench/page/page.h"
#include "bench/runner/commands/commands.h"
#include "kernels/base/text.h"

enum status command_report(const struct arguments *arguments, const struct tools *tools, FILE *out,
                           int *exit_status, struct error *e)
{
    char figures[TEXT_NUMBER], runs[TEXT_NUMBER];
    const struct page_request request = {.path = arguments->output != NULL ? arguments->output
                                                                           : "report.html",
                                         .operands = arguments->operands,
                                         .n_operands = arguments->n_operands,
                                         .out = arguments->out,
                                         .tools = tools};
    struct page_result result;
    TRY(page_make(&request, &result, e));
    fprintf(out, "%s: %s of %s\n", request.path,
            text_plural(figures, (long)result.figures, "figure"),
            text_plural(runs, (long)result.runs, "run"));
    return OK;
}
