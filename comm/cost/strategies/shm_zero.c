/* Gradients are summed block by block in shared memory. A rank copies the parameters of other ranks
 * once per step, but sharded parameters (stage 3) before each pass of each micro-batch. */
#include "comm/cost/strategies/shm.h"
#include "comm/cost/strategies/zero.h"

static void give_block(const struct step *s, struct reader *to, const struct zero_block *b)
{
    size_t micro_batches = s->config->micro_batches > 0 ? s->config->micro_batches : 1;
    size_t copies = b->is_whole ? 1 : 2 * micro_batches;
    give_shared_sum(s, to, b->tensors.count);
    for (size_t i = 0; i < copies; i++)
        give_shared_copy(s, to, b->tensors.count);
}

/* Passes the operations of a step to the reader. A step ends with a barrier. */
static void shm_zero_program(const struct step *s, struct reader *to)
{
    const struct gradient *g = s->g;
    for (size_t last = g->n; last > 0;) {
        struct zero_block b =
            zero_block_before(s->config, g->stage == 3, g->counts, g->n, last, g->width);
        give_block(s, to, &b);
        last = b.tensors.first;
    }
    give_meeting(s, to);
}

/* Changes *m from the memory of a rank that shards nothing to the memory of `rank`. A rank keeps
 * the gradients of a block until all ranks have summed their shares of the block. */
static void memory(struct sync_memory *m, const struct step *s, int rank, int slots)
{
    static const struct zero_way way = {.kept = ZERO_FLIGHTS + 1};
    zero_memory(m, s, rank, slots, &way);
}

const struct strategy_desc strategy_desc_shm_zero2 = {
    .program = shm_zero_program, .source = source_none, .memory = memory};
const struct strategy_desc strategy_desc_shm_zero3 = {
    .program = shm_zero_program, .source = source_none, .memory = memory};
