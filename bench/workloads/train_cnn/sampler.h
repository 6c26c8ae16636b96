/* Which samples a rank trains on at each step. The order of an epoch is a pure function of (seed,
 * epoch) and the batch of a step a slice of it, so p ranks together see what one rank would. */
#ifndef SCALEBENCH_WORKLOADS_TRAIN_CNN_SAMPLER_H
#define SCALEBENCH_WORKLOADS_TRAIN_CNN_SAMPLER_H

#include <stdbool.h>
#include <stdint.h>

#include "kernels/base/error.h"
#include "kernels/base/real.h"

/* What to do with a batch that the ranks do not divide; order of names_remainders. */
enum remainder { REMAINDER_UNEVEN, REMAINDER_DROP, REMAINDER_PAD };

struct sampler {
    uint32_t n_samples, global_batch;
    enum remainder remainder;
    bool shuffle;
    uint64_t seed;
    int rank, ranks;

    uint32_t n_max;  /* images of this rank's largest batch */
    uint32_t steps;  /* of an epoch, the last of which may be smaller */
    uint32_t *order; /* [n_samples], of `epoch` */
    uint32_t epoch;
    uint32_t *samples; /* [n_max] */
    real *weights;     /* [n_max] */
};

/* This rank's part of one step. Borrowed from the sampler until its next call. */
struct batch {
    uint32_t n;              /* images to compute, padding included; may be 0 */
    const uint32_t *samples; /* [n] */
    const real *weights;     /* [n], 0 for padding; NULL: all 1 */
    uint32_t global;         /* images that count over all ranks */
};

/* Fields up to `ranks` are set by the caller. Allocates; ERR_ARGUMENT when no step has an image. */
enum status sampler_open(struct sampler *s, struct error *e);
void sampler_close(struct sampler *s);

/* Batch of step `step` < steps of `epoch`. */
struct batch sampler_get(struct sampler *s, uint32_t epoch, uint32_t step);

#endif
