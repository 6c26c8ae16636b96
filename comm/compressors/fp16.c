/* fp16: half precision. Its least number is 6e-8 and gradients are small: sync.fp16_scale lifts them on
 * their way. Numbers that exceed 65504 over the scale become infinite: so do the gradient and soon
 * the weights and the loss, where it shows; records count these numbers. */
#include "comm/compressors/sum16.h"

static enum status fp16_create(struct sync *s, struct error *e)
{
    return sum16_create(s, PRECISION_fp16, s->config.options[SYNC_fp16_scale], e);
}

const struct compressor compressor_fp16 = {
    .context_bytes = sizeof(struct sum16),
    .create = fp16_create,
    .sum = sum16,
    .start = sum16_start,
    .advance = sum16_advance,
    .poll = sum16_poll,
    .finish = sum16_finish,
    .destroy = sum16_destroy,
};
