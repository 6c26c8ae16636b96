/* A bit a number and a magnitude a tensor, from every rank to every other. */
#include "comm/cost/description.h"
#include "comm/cost/exchange.h"

size_t sign_packet_bytes(size_t tensors, size_t n, size_t width)
{
    return packet_round_up(tensors * width) + (n + 63) / 64 * 8;
}

static void sign_add(struct cost *c, const struct strategy_config *config,
                     const struct participant *p, const struct gradient *g)
{
    if (g->count > 0)
        add_gathered(c, p, sign_packet_bytes(g->n, g->count, g->width));
    for (int r = 0; r < p->ranks && p->ranks > 1; r++)
        add_reduction(c, p, g->count * g->width);
}

const struct compressor_desc compressor_desc_sign = {.add = sign_add};
