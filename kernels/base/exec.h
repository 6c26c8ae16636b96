/* Execution context of every call that computes. Shapes are written [N,C,H,W], where N is the
 * number of images in the call. Arrays of `real` are in row-major order without gaps. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernels/base/error.h"
#include "kernels/base/isa.h"
#include "kernels/base/pool.h"
#include "kernels/base/real.h"

/* Kinds of work charged to a simulated clock, each named by its unit. */
enum work { WORK_FLOP, WORK_BYTE };

/* Resources, callbacks and settings of a call that computes. All pointers are borrowed. */
struct exec {
    struct pool *pool; /* threads to use; NULL: the calling thread only */

    /* Called between parts of the work, so that communication can progress. NULL: never called. */
    void (*poll)(void *arg);
    void *poll_arg;

    /* Sums `values` over the ranks that share a batch, for synchronised batch norm. NULL: batch
     * norm uses this rank's values alone. If the sum fails, group_sum must record the error in
     * group_arg; the computation continues with the local values. */
    enum status (*group_sum)(void *arg, double *values, size_t n);
    void *group_arg;

    /* Reports `amount` flops or bytes of work, to advance a simulated clock. NULL: no simulated
     * clock. */
    void (*charge)(void *arg, enum work kind, double amount);
    void *charge_arg;

    /* whether to apply dropout, use batch statistics in batch norm and keep state for backward */
    bool training;
    bool accumulate; /* whether backward adds to gradients instead of overwriting them */

    /* Running statistics of all batch norm layers; NULL if the net has none. If `fixed_statistics`
     * is set, training also normalises with the running statistics and does not update them. */
    real *buffers;
    bool fixed_statistics;

    /* Weight per image [N]; 0 marks padding images, which batch statistics exclude. NULL: no
     * padding images. */
    const real *weights;

    /* Random numbers of dropout and augmentation are functions of (seed, epoch, sample). */
    uint64_t seed;
    uint32_t epoch;
    const uint32_t *samples; /* [N] index of each image in the data set */
};
