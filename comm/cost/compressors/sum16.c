/* Every rank sends each share to its owner, with 16 bits per number. The owner sends the sum to all
 * ranks. For n numbers and p ranks, a rank sends 2 (p-1) messages with 2 n (p-1)/p numbers in
 * total. */
#include <math.h>

#include "comm/cost/description.h"
#include "comm/cost/exchange.h"

static void sum16_program(const struct step *s, struct reader *to)
{
    give_shares(s, to, &rule_shares_scatter, s->g->count, sizeof(uint16_t));
    give_shares(s, to, &rule_shares_gather, s->g->count, sizeof(uint16_t));
}

/* Rejects a sync.fp16_scale that is not a power of two, since scaling by it would add two
 * roundings. */
static enum status fp16_check(const struct strategy_config *config, const char **key,
                              struct error *e)
{
    int exponent;
    double scale = config->options[SYNC_fp16_scale];
    *key = "sync.fp16_scale";
    if (frexp(scale, &exponent) == 0.5)
        return OK;
    return error_set(
        e, ERR_ARGUMENT,
        "sync.fp16_scale = %.15g is no power of two; the nearest powers are %.0f and %.0f", scale,
        ldexp(0.5, exponent), ldexp(1, exponent));
}

const struct compressor_desc compressor_desc_bf16 = {.program = sum16_program};
const struct compressor_desc compressor_desc_fp16 = {.program = sum16_program, .check = fp16_check};
