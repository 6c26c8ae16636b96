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

static enum status write_comparison(const struct comparison *c, const struct arguments *a,
                                    format_writer *writer, FILE *out, struct error *e)
{
    struct written w = {c, writer, {.width = 0, .strict = a->strict}};
    if (a->output != NULL)
        return file_write(a->output, write_output, &w, e);
    w.options.width = terminal_width(out);
    return write_output(out, &w, e);
}

static int exit_status_of(const struct comparison *c, const struct arguments *a)
{
    if (a->bisect)
        return compare_bisect(c);
    return c->verdicts[VERDICT_BAD] > 0 || c->failed > 0 ||
           (a->strict && (c->verdicts[VERDICT_UNDECIDED] > 0 || c->lost > 0));
}

static enum status check_bisect(const struct arguments *a, struct error *e)
{
    return a->bisect && a->strict
               ? error_set(e, ERR_ARGUMENT,
                           "compare: if a point is undecided, --bisect exits with 125 (skip), but "
                           "--strict with 1. Leave one of the two out")
               : OK;
}

enum status command_compare(const struct arguments *a, FILE *out, int *exit_status, struct error *e)
{
    struct comparison c;
    format_writer *writer;
    char last[2][PATH_BYTES];
    const char *const both[] = {last[0], last[1]};
    bool alone = a->n_operands == 1;
    TRY(check_bisect(a, e));
    TRY(operand_check_campaigns(a->operands, a->n_operands, a->out, a->tools->home, e));
    for (size_t i = 0; a->strict && i < a->n_operands; i++)
        TRY(operand_check_points(a->operands[i], a->out, a->tools->home, e));
    if (alone)
        TRY(operand_find_last(last, a->operand, a->out, e));
    const struct compare_request request = {.operands = alone ? both : a->operands,
                                            .n_operands = alone ? 2 : a->n_operands,
                                            .out = a->out,
                                            .home = a->tools->home,
                                            .quantity = a->quantity,
                                            .margin = a->margin,
                                            .level = a->level,
                                            .floor = a->floor,
                                            .count_disturbed = a->count_disturbed,
                                            .as_measured = a->as_measured};
    TRY(format_find(&writer, a->format != NULL ? a->format : "text", e));
    enum status status = compare_run(&c, &request, e);
    THEN(status, write_comparison(&c, a, writer, out, e));
    if (status == OK)
        *exit_status = exit_status_of(&c, a);
    compare_free(&c);
    return status;
}
