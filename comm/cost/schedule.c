#include "comm/cost/schedule.h"

#include "comm/cost/collectives.h"

struct schedule schedule_of(const struct schedule_rule *rule, const struct strategy_config *config,
                            int rank, int ranks, size_t count, size_t width)
{
    size_t segment = rule->whole ? count : (size_t)config->options[SYNC_segment] / width;
    struct schedule s = {.rule = rule,
                         .rank = rank,
                         .ranks = ranks,
                         .count = count,
                         .segment = segment > 0 ? segment : 1,
                         .map = node_map_of(config, ranks)};
    if (rule->knows_nodes)
        s.view = node_view_of(&s.map, rank);
    return s;
}

size_t schedule_messages(const struct schedule *s, size_t count)
{
    return (count + s->segment - 1) / s->segment;
}

int schedule_rounds(const struct schedule *s)
{
    return s->rule->rounds(s);
}

void schedule_round(const struct schedule *s, int i, struct round *round)
{
    *round = (struct round){.n_sends = 0};
    s->rule->round(s, i, round);
}

static void add_transfer(struct cost *c, const struct schedule *s, const struct transfer *t,
                         size_t width)
{
    add_calls(c, schedule_messages(s, t->count), 0);
    c->bytes_payload += t->count * width;
}

struct cost schedule_cost(const struct schedule_rule *rule, const struct strategy_config *config,
                          const struct participant *p, size_t count, size_t width)
{
    const struct schedule schedule = schedule_of(rule, config, p->rank, p->ranks, count, width);
    const struct schedule *s = &schedule;
    struct cost c = {0};
    int passes = rule->passes > 0 ? rule->passes : 1;
    for (int i = 0; i < schedule_rounds(s); i++) {
        struct round round;
        struct cost sent = {0}, received = {0};
        schedule_round(s, i, &round);
        for (int k = 0; k < round.n_sends; k++) {
            add_transfer(&c, s, &round.sends[k], width);
            add_cut_message(&sent, p, round.sends[k].count * width, s->segment * width);
        }
        for (int k = 0; k < round.n_receives; k++) {
            add_transfer(&c, s, &round.receives[k], width);
            add_cut_message(&received, p, round.receives[k].count * width, s->segment * width);
            for (int pass = 0; round.receives[k].add && pass < passes; pass++)
                add_reduction(&c, p, round.receives[k].count * width);
        }
        c.messages_wire += sent.messages_wire;
        c.bytes_wire += sent.bytes_wire;
        c.seconds += sent.seconds > received.seconds ? sent.seconds : received.seconds;
    }
    return c;
}
