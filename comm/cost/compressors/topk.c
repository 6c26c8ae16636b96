/* Each rank sends every other rank its numbers of largest magnitude with their indices. Every rank
 * adds all packets. */
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

static void topk_program(const struct step *s, struct reader *to)
{
    const struct gradient *g = s->g;
    size_t k = topk_count(g->count, 0.01 * s->config->options[SYNC_topk]);
    give_packets(s, to, topk_packet_bytes(k, g->width));
    give_additions(to, (size_t)s->ranks * k, g->width);
}

const struct compressor_desc compressor_desc_topk = {.program = topk_program};
