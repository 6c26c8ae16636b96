/* Communication time alone: makes the calls of a step without computing. */
#pragma once

#include "bench/workloads/train_cnn/trainer.h"

/* Makes the calls of a step `n` times on the last step's gradients, from a common start, batch-norm
 * sums included. *median_ns is the median time on this rank without the optimizer. If a strategy
 * does not communicate in every step, each time is the mean over one of its periods. The learning
 * rate is 0, but optimizer state changes: do not train afterwards. Collective. */
enum status replay_run(struct trainer *t, int n, double *median_ns, struct error *e);
