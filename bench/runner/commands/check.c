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

enum status command_check(const struct arguments *arguments, const struct tools *tools, FILE *out,
                          int *exit_status, struct error *e)
{
    struct checking c;
    struct written w = {.checking = &c, .strict = arguments->strict};
    const struct check_request request = {.run = arguments->operands[0],
                                          .conditions = arguments->operands + 1,
                                          .n_conditions = arguments->n_operands - 1,
                                          .file = arguments->file,
                                          .out = arguments->out,
                                          .home = tools->home};
    TRY(format_find_check(&w.writer, arguments->format != NULL ? arguments->format : "text", e));
    enum status status = check_run(&c, &request, e);
    if (status == OK)
        status = arguments->output != NULL ? file_write(arguments->output, write_output, &w, e)
                                           : write_output(out, &w, e);
    if (status == OK &&
        (c.outcomes[CHECK_VIOLATED] > 0 || (arguments->strict && c.outcomes[CHECK_UNDECIDED] > 0)))
        *exit_status = 1;
    check_free(&c);
    return status;
}
