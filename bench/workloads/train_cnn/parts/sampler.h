/* Samples of a rank at each step: a pure function of (seed, epoch, step, rank, ranks), so that a
 * run can resume without saved state.
 *
 * Global: the order of an epoch depends on (seed, epoch) only. A step's batch is a slice of it,
 * so p ranks together train on the same images as one rank.
 *
 * Contiguous: rank r owns samples [floor(N r / p), floor(N (r + 1) / p)) and shuffles them
 * separately. The N positions of an epoch go to ranks in turn, larger shards first. A step has as
 * many images over all ranks as a global one. A rank's part is the batch / ranks rounded down or
 * up. An epoch uses every sample once. `drop` leaves out images that only some ranks have; `pad`
 * repeats the first image of the rank's shard. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "bench/spec/enumerations.h"
#include "kernels/base/error.h"
#include "kernels/base/real.h"

struct sampler {
    uint32_t n_samples, global_batch;
    enum remainder remainder;
    enum shard shard;
    bool shuffle;
    uint64_t seed;
    int rank, ranks;

    uint32_t n_max;        /* images in this rank's largest batch */
    uint32_t steps;        /* steps per epoch; the last may be smaller */
    uint32_t first, n_own; /* samples [first, first + n_own): this rank's shard, or all */
    uint32_t *order;       /* [n_own] order of `epoch` */
    uint32_t epoch;
    uint32_t *samples; /* [n_max] */
    real *weights;     /* [n_max] */
};

/* Images of one rank in one step. Borrowed from the sampler until its next call. */
struct batch {
    uint32_t n;              /* images to compute, padding included; may be 0 */
    const uint32_t *samples; /* [n] */
    const real *weights;     /* [n] 1 per image, 0 for padding; NULL: all 1 */
    uint32_t global;         /* images over all ranks, without padding */
};

/* Opens a sampler whose fields up to `ranks` are set, all others zero. ERR_ARGUMENT if no step has
 * an image or a rank has no shard. Call sampler_close in any case. */
enum status sampler_open(struct sampler *s, struct error *e);
void sampler_close(struct sampler *s);

/* Batch of step `step` < steps of `epoch`. */
struct batch sampler_get(struct sampler *s, uint32_t epoch, uint32_t step);

/* Gradient accumulation: returns the number of micro-batches of `batch` if the largest batch has
 * `accumulate`. All ranks get the same number. Smaller batches have fewer micro-batches, so that
 * these stay of similar size, at most sampler_micro_max images. */
uint32_t sampler_micro_batches(const struct sampler *s, const struct batch *batch,
                               uint32_t accumulate);
uint32_t sampler_micro_max(const struct sampler *s, uint32_t accumulate);

/* Returns micro-batch i of n. Images are divided evenly, larger parts first; a part may be
 * empty. */
struct batch batch_part(const struct batch *batch, uint32_t i, uint32_t n);

/* Returns the images of a batch without padding. */
uint32_t batch_counted(const struct batch *batch);

/* Writes the samples that this rank may use in `epoch` to needs [n_own], ascending and unique, and
 * returns their number. A contiguous shard is needed as a whole. */
uint32_t sampler_needs(struct sampler *s, uint32_t epoch, uint32_t *needs);
