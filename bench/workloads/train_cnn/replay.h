/* Measures communication time alone: makes the MPI calls of a step without computing. */
#pragma once

#include "bench/workloads/train_cnn/trainer.h"

/* Repeats the MPI calls of a step `n` times with the gradients of the last step. Ranks begin each
 * step together. Sets *median_ns to this rank's median time per step, without the optimizer. A
 * repetition covers one period of the strategy's calls; its time is the mean per step. The learning
 * rate is 0, but optimizer state changes: do not train afterwards. Collective. */
enum status replay_run(struct trainer *t, int n, double *median_ns, struct error *e);
