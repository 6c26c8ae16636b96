#include "bench/compare/comparison.h"
#include "bench/compare/format.h"
#include "bench/compare/operand.h"
#include "bench/runner/commands/commands.h"
#include "kernels/base/terminal.h"

struct written {
    const struct comparison *comparison;
    format_writer *writer;
    struct format_options options;
};

static enum status write_output(FILE *out, const void *arg, struct error *e)
{
    const struct written *w = arg;
    return w->writer(out, w->comparison, &w->options, e);
}

static enum status write_comparison(const struct comparison *c, const struct arguments *arguments,
                                    format_writer *writer, FILE *out, struct error *e)
{
    struct written w = {c, writer, {.width = 0, .strict = arguments->strict}};
    if (arguments->output != NULL)
        return file_write(arguments->output, write_output, &w, e);
    w.options.width = terminal_width(out);
    return write_output(out, &w, e);
}

enum status command_compare(const struct arguments *arguments, const struct tools *tools, FILE *out,
                            int *exit_status, struct error *e)
{
    struct comparison c;
    format_writer *writer;
    char last[2][PATH_BYTES];
    const char *const both[] = {last[0], last[1]};
    bool alone = arguments->n_operands == 1;
    TRY(operand_check_campaigns(arguments->operands, arguments->n_operands, arguments->out,
                                tools->home, e));
    if (alone)
        TRY(operand_find_last(last, arguments->operand, arguments->out, e));
    const struct compare_request request = {.operands = alone ? both : arguments->operands,
                                            .n_operands = alone ? 2 : arguments->n_operands,
                                            .out = arguments->out,
                                            .home = tools->home,
                                            .quantity = arguments->quantity,
                                            .margin = arguments->margin,
                                            .level = arguments->level,
                                            .floor = arguments->floor,
                                            .count_disturbed = arguments->count_disturbed,
                                            .as_measured = arguments->as_measured};
    TRY(format_find(&writer, arguments->format != NULL ? arguments->format : "text", e));
    enum status status = compare_run(&c, &request, e);
    THEN(status, write_comparison(&c, arguments, writer, out, e));
    if (status == OK && (c.verdicts[VERDICT_BAD] > 0 || c.failed > 0 ||
                         (arguments->strict && (c.verdicts[VERDICT_UNDECIDED] > 0 || c.lost > 0))))
        *exit_status = 1;
    compare_free(&c);
    return status;
}
