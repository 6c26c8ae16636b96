/* As bf16, of gradients that were multiplied by sync.fp16_scale. */
#include <math.h>

#include "comm/cost/compressors/sum16.h"

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

const struct compressor_desc compressor_desc_fp16 = {.add = sum16_add, .check = fp16_check};
