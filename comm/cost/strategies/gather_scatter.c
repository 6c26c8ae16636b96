/* For each tensor, rank 0 gathers the gradients of all ranks, adds them and sends the whole sum to
 * every rank (a scatter of copies). */
#include "comm/cost/description.h"
#include "comm/cost/exchange.h"
#include "comm/cost/library.h"
#include "comm/cost/rounds.h"

/* ---- Rank 0 exchanges messages with every rank ---- */

static int linear_rounds(const struct schedule *s)
{
    return s->ranks - 1;
}

static void gather_round(const struct schedule *s, int i, struct round *r)
{
    if (s->rank == 0)
        round_receive(r, i + 1, 0, s->count, false);
    else if (s->rank == i + 1)
        round_send(r, 0, 0, s->count);
}

static void scatter_round(const struct schedule *s, int i, struct round *r)
{
    if (s->rank == 0)
        round_send(r, i + 1, 0, s->count);
    else if (s->rank == i + 1)
        round_receive(r, 0, 0, s->count, false);
}

static const struct schedule_rule linear_gather = {.rounds = linear_rounds, .round = gather_round};
static const struct schedule_rule linear_scatter = {.rounds = linear_rounds,
                                                    .round = scatter_round};

static struct operation linear(const struct schedule_rule *rule, size_t count, size_t width)
{
    return (struct operation){.rule = rule, .count = count, .width = width, .single = true};
}

/* ---- The program ---- */

static bool is_linear(const struct step *s)
{
    return s->config->variant != VARIANT_gather_scatter_mpich;
}

static void give_tensor(const struct step *s, struct reader *to, size_t count)
{
    size_t width = s->g->width, others = (size_t)(s->ranks - 1);
    reader_give(to, is_linear(s) ? linear(&linear_gather, count, width)
                                 : library_gather(count * width));
    reader_give(
        to, (struct operation){.rule = &rule_add_at_root, .count = others * count, .width = width});
    reader_give(to, is_linear(s) ? linear(&linear_scatter, count, width)
                                 : library_scatter(count * width));
}

static void gather_scatter_program(const struct step *s, struct reader *to)
{
    for (size_t i = 0; i < s->g->n; i++)
        give_tensor(s, to, s->g->counts[i]);
}

static const char *gather_scatter_source(const struct step *s)
{
    return is_linear(s) ? WIRE_COUNTED : "formula: binomial, binomial";
}

const struct strategy_desc strategy_desc_gather_scatter = {.program = gather_scatter_program,
                                                           .source = gather_scatter_source};
