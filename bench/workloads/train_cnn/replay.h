/* Measures communication time alone: makes the MPI calls of a step without computing. */
#pragma once

#include "bench/workloads/train_cnn/trainer.h"

/* Repeats the MPI calls of training steps with the gradients of the last step. Each of the `n`
 * repetitions covers one period of the strategy's calls, which can be several steps. Ranks begin
 * each step together. *median_ns: this rank's mean time per step without the optimizer, median over
 * the repetitions. The learning rate is 0, but optimizer state changes: do not train afterwards.
 * Collective. */
enum status replay_run(struct trainer *t, int n, double *median_ns, struct error *e);
