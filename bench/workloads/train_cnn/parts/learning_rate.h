/* The learning rate of each step: the rate of the spec, scaled by a rule for the number of ranks,
 * reached by a warm-up, and lowered by a schedule. A pure function of options and step. */
#pragma once

#include "bench/spec/spec.h"

/* Rate of step `step` (from 1) of a training whose epochs have epoch_steps steps.
 *
 * Warm-up over w steps: rate * step/w (Goyal et al., 2017), or rate * log(1 + step)/log(1 + w), as
 * DeepSpeed has it. Cosine: Loshchilov and Hutter, 2017, without restarts. */
double learning_rate(const struct config *config, int ranks, uint32_t epoch_steps, uint64_t step);
