/* Learning rate of each step: train.lr, scaled with the number of ranks, raised in a warm-up and
 * lowered by a schedule. It depends only on options, ranks and step. */
#pragma once

#include "bench/spec/spec.h"

/* Returns the learning rate of step `step`, counted from 1. epoch_steps: steps per epoch.
 *
 * Learning rate in a warm-up of w steps to a rate r: r * step/w (Goyal et al., 2017), or
 * r * log(1 + step)/log(1 + w) as in DeepSpeed. Cosine schedule without restarts: Loshchilov and
 * Hutter, 2017. */
double learning_rate(const struct config *config, int ranks, uint32_t epoch_steps, uint64_t step);
