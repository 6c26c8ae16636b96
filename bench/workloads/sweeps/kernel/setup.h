/* Data for timing ops: random images and parameters, gradients and optimizer state. Also the
 * matrices of a fixed matrix product, whose rate is the reference for the rates of ops. */
#pragma once

#include "bench/workloads/sweeps/kernel/limits.h"
#include "bench/workloads/sweeps/kernel/sweep.h"

struct setup {
    struct net_batch batch;     /* `batch.memory` owns the memory of all members of struct setup */
    struct optimizer optimizer; /* SGD with momentum */
    struct product product;
    struct limits limits; /* set only with --part limits */
    real *spoilt, *reference_grads, *momentum;
};

/* Allocates the data for timing. The caller calls mem_room_empty(&r->batch.memory) in any case. */
enum status setup_open(struct setup *r, const struct sweep *s, struct error *e);

/* Runs the optimizer with learning rate 0, which takes the time of an update but keeps the weights
 * equal in all rounds. */
void setup_update(const struct setup *r);
