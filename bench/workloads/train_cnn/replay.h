/* Measures communication time alone: makes the MPI calls of a step without computing. */
#pragma once

#include "bench/workloads/train_cnn/trainer.h"

/* Repeats the MPI calls of a step `n` times, with the gradients of the last step. All ranks begin
 * each repetition together. Sums for batch norm are included. *median_ns is the median time on this
 * rank without the optimizer. If the steps of a strategy differ, each time is the mean over the
 * steps after which the strategy's communication repeats. The learning rate is 0, but optimizer
 * state changes: do not train afterwards. Collective. */
enum status replay_run(struct trainer *t, int n, double *median_ns, struct error *e);
