#include "comm/cost/program.h"

#include <stdlib.h>

#include "kernels/base/mem.h"

struct schedule operation_schedule(const struct operation *op, int rank, int ranks)
{
    size_t segment = op->segment > 0 ? op->segment : op->count;
    struct schedule s = {.rule = op->rule,
                         .rank = rank,
                         .ranks = ranks,
                         .count = op->count,
                         .segment = segment > 0 ? segment : 1,
                         .single = op->single,
                         .cut = op->cut,
                         .owners = op->owners,
                         .map = op->map};
    if (op->rule->knows_nodes)
        s.view = node_view_of(&s.map, rank);
    return s;
}

struct operation operation_of_messages(const struct schedule_rule *rule,
                                       const struct strategy_config *config, int ranks,
                                       size_t count, size_t width)
{
    size_t segment = (size_t)config->options[SYNC_segment] / width;
    return (struct operation){.rule = rule,
                              .count = count,
                              .width = width,
                              .segment = rule->whole   ? 0
                                         : segment > 0 ? segment
                                                       : 1,
                              .map = node_map_of(config, ranks)};
}

struct schedule schedule_of(const struct schedule_rule *rule, const struct strategy_config *config,
                            int rank, int ranks, size_t count, size_t width)
{
    const struct operation op = operation_of_messages(rule, config, ranks, count, width);
    return operation_schedule(&op, rank, ranks);
}

/* ---- Lists ---- */

static void append(struct reader *reader, const struct operation *op)
{
    struct program_list *list = (struct program_list *)reader;
    if (list->status == OK)
        list->status = MEM_GROW(list->all, list->n, "the operations of a program", list->e);
    if (list->status == OK)
        list->all[list->n++] = *op;
}

struct program_list program_list_of(struct error *e)
{
    return (struct program_list){.reader = {append}, .e = e};
}

void program_list_free(struct program_list *list)
{
    free(list->all);
    list->all = NULL;
}
