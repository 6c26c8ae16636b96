/* zero1: ZeRO stage 1 (Rajbhandari et al., "ZeRO: memory optimizations toward training trillion
 * parameter models", 2020) by messages, on any nodes. Each of p ranks runs the optimizer on one
 * shard of the n parameters. The first half of a ring leaves each rank with the summed gradients of
 * its shard. The second half distributes the updated parameters. A rank sends 2 n (p - 1) / p
 * numbers, as in strategy ring.
 *
 * Optimizer state is reserved for all parameters, so that indices are equal on all ranks. Steps
 * write only the rank's own shard, so the pages of other shards take no memory. After a restore,
 * every rank has the state of all shards until the next step. */
#include "comm/strategies/owned_block.h"
#include "comm/strategies/point_to_point.h"

struct zero1 {
    struct owned_blocks blocks;
    struct point_to_point ring;
};

static const struct owned_way way = {.params = mem_give_back};

static enum status zero1_create(struct sync *s, struct error *e)
{
    struct zero1 *z = s->context;
    TRY(owned_blocks_open(s, &way, e));
    TRY(owned_state_open(s, e));
    TRY(arenas_alloc(&s->arenas, e));
    return point_to_point_open(&z->ring, s, e);
}

static enum status zero1_step_end(struct sync *s, const struct optimizer *o, uint64_t step,
                                  double lr, struct error *e)
{
    struct zero1 *z = s->context;
    int rounds = schedule_rounds(&z->ring.schedule);
    TRY(point_to_point_rounds(&z->ring, s->arenas.grads, 0, rounds / 2, e));
    TRY(owned_blocks_step(s, o, step, lr, e));
    return point_to_point_rounds(&z->ring, s->arenas.params, rounds / 2, rounds, e);
}

const struct strategy strategy_zero1 = {
    .context_bytes = sizeof(struct zero1),
    .create = zero1_create,
    .step_begin = owned_step_begin,
    .norm2_local = owned_norm2_local,
    .step_end = zero1_step_end,
    .save = owned_save,
    .restore = owned_restore,
};
