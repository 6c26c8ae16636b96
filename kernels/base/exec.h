/* Execution context of every call that computes. Shapes are written [N,C,H,W]; N is the number of
 * images of the call. All numbers are `real`, in row-major order without gaps. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernels/base/error.h"
#include "kernels/base/isa.h"
#include "kernels/base/pool.h"
#include "kernels/base/real.h"

/* What kind of work is charged to a simulated clock. */
enum work { WORK_FLOP, WORK_BYTE };

/* Execution context: what a call may use, and what it calls while it computes. All pointers are
 * borrowed. */
struct exec {
    struct pool *pool; /* NULL: the calling thread alone */

    /* Called at the ends of tiles, so that communication can progress; how often it does something is its own
     * affair. NULL: never. */
    void (*poll)(void *arg);
    void *poll_arg;

    /* Sums `values` over the ranks that share a batch (synchronised batch norm). NULL: one rank.
     * Where it fails, the call goes on with what it has; the owner of group_arg keeps the error. */
    enum status (*group_sum)(void *arg, double *values, size_t n);
    void *group_arg;

    /* Charges work to a simulated clock. NULL: the work takes real time. */
    void (*charge)(void *arg, enum work kind, double amount);
    void *charge_arg;

    bool training;   /* dropout is on, state for backward is kept */
    bool accumulate; /* backward adds to gradients instead of overwriting them */

    /* Batch norm: the arena of running statistics, NULL where a net has none. With
     * `fixed_statistics` they are used while training too, and stay as they are. */
    real *buffers;
    bool fixed_statistics;

    /* [N], 0 for padding, which has no part in the statistics of a batch. NULL: all images
     * count. */
    const real *weights;

    /* Which samples these are: dropout and augmentation are functions of (seed, epoch, sample). */
    uint64_t seed;
    uint32_t epoch;
    const uint32_t *samples; /* [N] */
};
