/* Loss scaling (Micikevicius et al., "Mixed precision training", 2018). In fp16, gradients of
 * magnitude 2^-25 or less are rounded to 0. Therefore the gradient of the loss is multiplied by a
 * scale, and the summed gradients are divided by it. If the sum overflows fp16, every rank skips
 * the step.
 *
 * A dynamic scale adapts as in DeepSpeed. An overflow lowers the hysteresis by 1 or, if the
 * hysteresis is 1, halves the scale. After every `window` steps without overflow, the scale is
 * doubled and the hysteresis is reset. The first step after the start or after an overflow does not
 * count.
 *
 * Scales are powers of two, so dividing by them is exact. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Options of loss scaling. If all are zero, gradients are not scaled. */
struct loss_scale_options {
    double fixed;          /* constant scale; 0: the scale is dynamic if initial > 0 */
    double initial, least; /* first and smallest value of a dynamic scale */
    uint64_t window;
    uint32_t hysteresis;
};

/* State of loss scaling, equal on every rank. `value`: current scale. */
struct loss_scale {
    struct loss_scale_options options;
    double value;
    uint32_t hysteresis; /* number of overflows until the scale is halved; each overflow lowers this
                            number, down to 1 */
    uint64_t clean;      /* number of steps since the last overflow or the start; only counted if
                            the scale is dynamic */
    uint64_t skipped;    /* number of steps skipped because of an overflow */
};

void loss_scale_open(struct loss_scale *s, const struct loss_scale_options *options);
/* Updates the scale after a step. `overflow`: whether the step's gradients overflowed. */
void loss_scale_update(struct loss_scale *s, bool overflow);
