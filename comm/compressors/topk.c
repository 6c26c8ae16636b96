/* topk: sparsification (Aji and Heafield, 2017) with error feedback. Each rank sends the sync.topk
 * percent of its numbers that have the largest magnitudes, with their indices. Every rank adds all
 * numbers in the order of ranks. Numbers that were not sent are kept for the next step. Strategy
 * allreduce chooses from the whole gradient, allreduce_layer from each tensor, bucketed from each
 * bucket.
 *
 * Sending rounds nothing: a number is either sent or kept unchanged. */
#include "comm/compressors/feedback.h"
#include "comm/local_ops.h"

static size_t packet_bytes(const struct sync *s, size_t n)
{
    return topk_packet_bytes(topk_count(n, 0.01 * s->config.options[SYNC_topk]), sizeof(real));
}

static enum status topk_create(struct sync *s, struct error *e)
{
    size_t n = s->arenas.n;
    if (n > UINT32_MAX)
        return error_set(e, ERR_ARGUMENT,
                         "the network has %zu gradients, too many for the 32-bit indices of "
                         "sync.compress: topk. Use another compressor",
                         n);
    return feedback_create(s, packet_bytes(s, n), e);
}

/* Makes a packet: k values, then their k indices. */
static void encode(struct sync *s, struct range tensors, unsigned char *packet)
{
    const struct feedback *f = s->compression;
    const struct span span = span_of(&s->arenas, tensors);
    size_t k = topk_count(span.n, 0.01 * s->config.options[SYNC_topk]);
    local_take_largest(s->exec, f->residual + span.begin, span.n, k, (real *)packet,
                       (uint32_t *)(packet + k * sizeof(real)));
}

static void decode(struct sync *s, struct range tensors, const unsigned char *packet)
{
    const struct span span = span_of(&s->arenas, tensors);
    size_t k = topk_count(span.n, 0.01 * s->config.options[SYNC_topk]);
    local_add_at(s->exec, s->arenas.grads + span.begin, (const real *)packet,
                 (const uint32_t *)(packet + k * sizeof(real)), k);
}

static enum status topk_sum(struct sync *s, struct range tensors, struct error *e)
{
    static const struct packing packing = {"exchange of the largest gradients", encode, decode};
    return feedback_sum(s, tensors, packet_bytes(s, span_of(&s->arenas, tensors).n), &packing, e);
}

const struct compressor compressor_topk = {
    .context_bytes = sizeof(struct feedback),
    .create = topk_create,
    .sum = topk_sum,
    .memory = feedback_memory,
    .begin = feedback_begin,
};
