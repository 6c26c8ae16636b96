/* Measures communication time alone: makes the MPI calls of a step without computing. */
#pragma once

#include "bench/workloads/train_cnn/trainer.h"

/* Repeats the MPI calls of a step, including sums for batch norm, `n` times with the gradients of
 * the last step. All ranks begin each step together. Sets *median_ns to the median time of a
 * repetition on this rank, without the optimizer. If a strategy's calls differ between steps, a
 * repetition covers one period of steps, and the time of the repetition is the mean per step. The
 * learning rate is 0, but optimizer state changes: do not train afterwards. Collective. */
enum status replay_run(struct trainer *t, int n, double *median_ns, struct error *e);
