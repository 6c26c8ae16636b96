#include "bench/compare/format.h"
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
