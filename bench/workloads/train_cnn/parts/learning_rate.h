/* Learning rate of each step: train.lr, scaled with the number of ranks, raised in a warm-up and
 * lowered by a schedule. It depends only on options, ranks and step. */
#pragma once

#include "bench/spec/spec.h"

/* Returns the learning rate at step `step`, counted from 1, if an epoch has epoch_steps steps.
 *
 * Warm-up over w steps: rate * step/w (Goyal et al., 2017), or rate * log(1 + step)/log(1 + w) as
 * in DeepSpeed. Cosine: Loshchilov and Hutter, 2017, without restarts. */
double learning_rate(const struct config *config, int ranks, uint32_t epoch_steps, uint64_t step);
