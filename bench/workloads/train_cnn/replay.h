/* What communication takes by itself: the calls of a step without its computing. */
#pragma once

#include "bench/workloads/train_cnn/trainer.h"

/* Makes the calls of a step, sums of batch statistics included, `n` times, over the gradients of the last step and from a
 * common beginning; *median_ns is the median of their time on this rank, the optimizer's left out.
 * A strategy that does not communicate in every step does so here as often: its time is the mean over as many steps as
 * it takes to come round. Learning rate 0; what the optimizer keeps is changed all the same, so nothing is trained
 * afterwards. Collective. */
enum status replay_run(struct trainer *t, int n, double *median_ns, struct error *e);
