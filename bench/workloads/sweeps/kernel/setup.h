/* What ops are timed on: a batch of made-up images, the arenas, and the matrix product that they are
 * compared with. */
#pragma once

#include "bench/workloads/sweeps/kernel/sweep.h"

struct setup {
    struct net_batch batch;     /* and the memory of all */
    struct optimizer optimizer; /* SGD with momentum */
    struct product product;
    real *spoilt, *reference_grads, *momentum;
};

/* The caller empties batch.memory in any case. */
enum status setup_open(struct setup *r, const struct sweep *s, struct error *e);

/* The update that ends a training step, at rate 0: all rounds train the same weights. */
void setup_update(const struct setup *r);
