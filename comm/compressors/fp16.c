/* Half precision. Its least number is 6e-8 and gradients are small: sync.fp16_scale lifts them on
 * their way. What exceeds 65504 over the scale becomes infinite: so do the gradient, soon the
 * weights and the loss, for everybody to see, and records count the numbers that did. */
#include "comm/compressors/sum16.h"

static enum status fp16_create(struct sync *s, struct error *e)
{
    return sum16_create(s, FORMAT_FP16, s->config.options[SYNC_fp16_scale], e);
}

const struct compressor compressor_fp16 = {
    .create = fp16_create,
    .sum = sum16,
    .destroy = sum16_destroy,
};
