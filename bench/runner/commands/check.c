#include "bench/compare/format.h"
#include "bench/compare/operand.h"
#include "bench/runner/commands/commands.h"

struct written {
    const struct checking *checking;
    check_writer *writer;
    bool strict;
};

static enum status write_output(FILE *out, const void *arg, struct error *e)
{
    const struct written *w = arg;
    w->writer(out, w->checking, w->strict);
    return OK;
}

/* ---- Exact values ---- */

struct written_exact {
    const struct exact *exact;
    exact_writer *writer;
    bool strict;
};

static enum status write_exact_output(FILE *out, const void *arg, struct error *e)
{
    const struct written_exact *w = arg;
    w->writer(out, w->exact, w->strict);
    return OK;
}

static enum status check_exact(const struct arguments *a, FILE *out, int *exit_status,
                               struct error *e)
{
    struct exact x;
    struct written_exact w = {.exact = &x, .strict = a->strict};
    const struct exact_request request = {
        .run = a->operand, .reference = a->exact, .out = a->out, .home = a->tools->home};
    if (a->n_operands > 1 || a->file != NULL)
        return error_set(e, ERR_ARGUMENT,
                         "check: --exact compares two runs and checks no conditions. Leave "
                         "conditions and --file out");
    TRY(format_find_exact(&w.writer, a->format != NULL ? a->format : "text", e));
    enum status status = exact_run(&x, &request, e);
    if (status == OK)
        status = a->output != NULL ? file_write(a->output, write_exact_output, &w, e)
                                   : write_exact_output(out, &w, e);
    if (status == OK)
        *exit_status = !exact_agrees(&x, a->strict);
    exact_free(&x);
    return status;
}

/* ---- Conditions ---- */

enum status command_check(const struct arguments *a, FILE *out, int *exit_status, struct error *e)
{
    struct checking c;
    struct written w = {.checking = &c, .strict = a->strict};
    const struct check_request request = {.run = a->operands[0],
                                          .conditions = a->operands + 1,
                                          .n_conditions = a->n_operands - 1,
                                          .file = a->file,
                                          .out = a->out,
                                          .home = a->tools->home};
    if (a->strict)
        TRY(operand_check_points(a->operand, a->out, a->tools->home, e));
    if (a->strict && a->exact != NULL)
        TRY(operand_check_points(a->exact, a->out, a->tools->home, e));
    if (a->exact != NULL)
        return check_exact(a, out, exit_status, e);
    TRY(format_find_check(&w.writer, a->format != NULL ? a->format : "text", e));
    enum status status = check_run(&c, &request, e);
    if (status == OK)
        status = a->output != NULL ? file_write(a->output, write_output, &w, e)
                                   : write_output(out, &w, e);
    if (status == OK &&
        (c.outcomes[CHECK_VIOLATED] > 0 || (a->strict && c.outcomes[CHECK_UNDECIDED] > 0)))
        *exit_status = 1;
    check_free(&c);
    return status;
}
