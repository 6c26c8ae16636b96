/* bf16: the upper half of a float, with its range, so that nothing overflows that does not in full precision,
 * at 8 significant bits. */
#include "comm/compressors/sum16.h"

static enum status bf16_create(struct sync *s, struct error *e)
{
    return sum16_create(s, PRECISION_bf16, 1, e);
}

const struct compressor compressor_bf16 = {
    .context_bytes = sizeof(struct sum16),
    .create = bf16_create,
    .sum = sum16,
    .start = sum16_start,
    .advance = sum16_advance,
    .poll = sum16_poll,
    .finish = sum16_finish,
    .destroy = sum16_destroy,
};
