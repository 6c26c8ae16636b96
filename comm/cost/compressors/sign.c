/* Each rank sends every other rank one bit per number and one magnitude per tensor. Every rank adds
 * all packets. */
#include "comm/cost/description.h"
#include "comm/cost/exchange.h"

size_t sign_packet_bytes(size_t tensors, size_t n, size_t width)
{
    return packet_round_up(tensors * width) + (n + 63) / 64 * 8;
}

static void sign_program(const struct step *s, struct reader *to)
{
    const struct gradient *g = s->g;
    if (g->count == 0)
        return;
    give_packets(s, to, sign_packet_bytes(g->n, g->count, g->width));
    give_additions(to, (size_t)s->ranks * g->count, g->width);
}

const struct compressor_desc compressor_desc_sign = {.program = sign_program};
