/* Of each block a rank says twice how far it is, fetches its share from p - 1 others and adds it; parameters of others
 * are copied once a step or, at stage 3, before each pass of each micro-batch. Nothing is sent. */
#include "comm/cost/strategies/zero.h"

#include "comm/cost/description.h"
#include "comm/cost/exchange.h"

static double block_seconds(const struct strategy_config *config, const struct participant *p,
                            const struct zero_block *b, size_t width)
{
    size_t all = b->tensors.count * width;
    size_t own = share_bytes(b->tensors.count, p->rank, p->ranks, width);
    size_t micro_batches = config->micro_batches > 0 ? config->micro_batches : 1;
    double copies = b->is_whole ? 1 : 2 * (double)micro_batches;
    double summed = (double)own * (p->ranks - 1);
    return 2 * p->model->alpha_s + summed * (p->model->beta_s + p->model->gamma_s) +
           copies * (double)(all - own) * p->model->beta_s;
}

/* At the end of a step ranks meet once more. */
static struct cost shm_zero_cost(const struct strategy_config *config, const struct participant *p,
                                 const struct gradient *g)
{
    struct cost c = {.wire_source = "none"};
    if (p->model == NULL || p->ranks == 1)
        return c;
    c.seconds = p->model->alpha_s;
    for (size_t last = g->n; last > 0;) {
        struct zero_block b =
            zero_block_before(config, g->stage == 3, g->counts, g->n, last, g->width);
        c.seconds += block_seconds(config, p, &b, g->width);
        last = b.tensors.first;
    }
    return c;
}

/* What this rank has summed is there until all have. */
static void memory(struct sync_memory *m, const struct strategy_config *config,
                   const struct participant *p, const struct gradient *g, int slots)
{
    static const struct zero_way way = {.kept = ZERO_FLIGHTS + 1};
    zero_memory(m, config, p, g, slots, &way);
}

const struct strategy_desc strategy_desc_shm_zero2 = {.cost = shm_zero_cost, .memory = memory};
const struct strategy_desc strategy_desc_shm_zero3 = {.cost = shm_zero_cost, .memory = memory};
