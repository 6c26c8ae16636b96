/* The numbers of largest magnitude and their places, from every rank to every other. */
#include <math.h>

#include "comm/cost/description.h"
#include "comm/cost/exchange.h"

size_t topk_count(size_t n, double share)
{
    size_t k = (size_t)floor(share * (double)n + 0.5);
    k = k > n ? n : k;
    return k > 0 || n == 0 ? k : 1;
}

size_t topk_packet_bytes(size_t k, size_t width)
{
    return packet_round_up(k * (width + sizeof(uint32_t)));
}

/* Every rank adds what all sent. */
static void topk_add(struct cost *c, const struct strategy_config *config,
                     const struct participant *p, const struct gradient *g)
{
    size_t k = topk_count(g->count, 0.01 * config->options[SYNC_topk]);
    add_gathered(c, p, topk_packet_bytes(k, g->width));
    for (int r = 0; r < p->ranks && p->ranks > 1; r++)
        add_reduction(c, p, k * g->width);
}

const struct compressor_desc compressor_desc_topk = {.add = topk_add};
