/* A batch of made-up images, the arenas, and the limits of the machine that a turn of the sweep is
 * held against. */
#ifndef SCALEBENCH_BENCH_WORKLOADS_SWEEPS_KERNEL_RIG_H
#define SCALEBENCH_BENCH_WORKLOADS_SWEEPS_KERNEL_RIG_H

#include "bench/workloads/sweeps/kernel/sweep.h"

struct rig {
    struct exec ex;
    struct optimizer optimizer; /* SGD with momentum */
    struct product product;
    uint8_t *images, *labels;
    uint32_t *samples;
    real *params, *spoilt, *grads, *reference_grads, *buffers, *momentum;
};

/* rig_close also after a failed rig_open. */
enum status rig_open(struct rig *r, const struct sweep *s, struct error *e);
void rig_close(struct rig *r);

/* The update that ends a training step, at rate 0: all turns train the same weights. */
void rig_update(const struct rig *r);

#endif
