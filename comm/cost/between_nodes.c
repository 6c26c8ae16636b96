#include "comm/cost/rounds.h"

/* Returns the schedule of a sum over nodes: Rabenseifner's algorithm if the number of nodes is a
 * power of two, otherwise a ring. Rabenseifner's algorithm has few rounds, but for other numbers of
 * nodes it sends more bytes than a ring. */
static struct schedule between_nodes(const struct schedule *s, size_t count)
{
    bool power_of_two = (s->view.nodes & (s->view.nodes - 1)) == 0;
    const struct strategy_desc *desc =
        power_of_two ? &strategy_desc_rabenseifner : &strategy_desc_ring;
    return (struct schedule){.rule = desc->schedule,
                             .rank = s->view.node,
                             .ranks = s->view.nodes,
                             .count = count,
                             .segment = s->segment};
}

/* Converts node numbers of transfers to ranks, and offsets within this rank's slice to offsets in
 * the whole array. */
static void translate(const struct schedule *s, size_t first, struct transfer *t, int n)
{
    for (int k = 0; k < n; k++) {
        t[k].rank = node_rank_at(&s->map, t[k].rank, s->view.place);
        t[k].first += first;
    }
}

void between_nodes_round(const struct schedule *s, size_t first, size_t count, int i,
                         struct round *r)
{
    const struct schedule between = between_nodes(s, count);
    schedule_round(&between, i, r);
    translate(s, first, r->sends, r->n_sends);
    translate(s, first, r->receives, r->n_receives);
}

int between_nodes_rounds(const struct schedule *s)
{
    const struct schedule between = between_nodes(s, s->count);
    return schedule_rounds(&between);
}
