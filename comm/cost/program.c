#include "comm/cost/program.h"

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
