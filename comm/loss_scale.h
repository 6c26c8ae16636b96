/* Loss scaling (Micikevicius et al., "Mixed precision training", 2018). Gradients are small, and what is
 * below 2^-24 is nothing in fp16: so the gradient of the loss is multiplied by a scale, and the sum of the
 * gradients divided by it again before anything is made of them. Where the sum is beyond what fp16 holds,
 * no rank steps.
 *
 * A dynamic scale finds its size by such overflows, as DeepSpeed's does: each halves it, once as many as
 * hysteresis - 1 have been let pass; it doubles, and hysteresis is whole again, after `window` steps
 * without one. The first step without one is not counted.
 *
 * Scales are powers of two: dividing by one loses nothing. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* All zero: gradients are not scaled. */
struct loss_scale_options {
    double fixed;          /* 0: the scale is dynamic */
    double initial, least; /* of a dynamic one */
    uint64_t window;
    uint32_t hysteresis;
};

/* What it is now, the same on every rank. */
struct loss_scale {
    struct loss_scale_options options;
    double value;
    uint32_t hysteresis; /* this many overflows until it halves */
    uint64_t clean;      /* steps since the last overflow, or the first step */
    uint64_t skipped;    /* steps that were not taken */
};

void loss_scale_open(struct loss_scale *s, const struct loss_scale_options *options);
/* After each step: whether its gradients overflowed. */
void loss_scale_update(struct loss_scale *s, bool overflow);
