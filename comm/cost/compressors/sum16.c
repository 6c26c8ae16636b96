/* Shares of 16 bits a number are handed over, summed, and handed back: 2 (p-1) messages, 2 (p-1)/p
 * of the numbers. Those of fp16 were multiplied by sync.fp16_scale. */
#include <math.h>

#include "comm/cost/description.h"
#include "comm/cost/exchange.h"

static void sum16_add(struct cost *c, const struct strategy_config *config,
                      const struct participant *p, const struct gradient *g)
{
    add_shares(c, p, g->count, sizeof(uint16_t), false);
    for (int r = 1; r < p->ranks; r++)
        add_reduction(c, p, share_bytes(g->count, p->rank, p->ranks, sizeof(uint16_t)));
    add_shares(c, p, g->count, sizeof(uint16_t), true);
}

/* Other factors would be rounded twice more. */
static enum status fp16_check(const struct strategy_config *config, const char **key,
                              struct error *e)
{
    int exponent;
    double scale = config->options[SYNC_fp16_scale];
    *key = "sync.fp16_scale";
    if (frexp(scale, &exponent) == 0.5)
        return OK;
    return error_set(e, ERR_ARGUMENT,
                     "sync.fp16_scale = %.15g is no power of two; nearest %.0f and %.0f", scale,
                     ldexp(0.5, exponent), ldexp(1, exponent));
}

const struct compressor_desc compressor_desc_bf16 = {.add = sum16_add};
const struct compressor_desc compressor_desc_fp16 = {.add = sum16_add, .check = fp16_check};
