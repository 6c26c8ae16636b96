/* Chooses the samples of a rank at each step: a pure function of (seed, epoch, step, rank, ranks),
 * so that a run can resume without saved state.
 *
 * Global sharding: the order of an epoch depends on (seed, epoch) only. A step's batch is a slice
 * of that order, so p ranks together train on the same images as one rank, except with
 * train.remainder = drop.
 *
 * Contiguous sharding: rank r of p owns samples [floor(N r / p), floor(N (r + 1) / p)) of N and
 * shuffles them separately. The N positions of an epoch go to ranks round-robin, ranks with larger
 * shards first. A step has as many images over all ranks as with global sharding; the numbers of
 * images per rank differ by at most one. train.remainder = uneven uses every sample once per epoch.
 * `drop` leaves out the last image of ranks that have one image more than others. `pad` repeats the
 * shard's first image, with weight 0, on ranks that have one image fewer. */
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

    uint32_t full_images;  /* images of a full step over all ranks: global_batch; with
                              train.remainder = drop, rounded down to a multiple of the number of
                              ranks */
    uint32_t epoch_images; /* images of an epoch over all ranks, without dropped images */
    uint32_t n_max;        /* images in the largest batch of any rank */
    uint32_t steps;        /* steps per epoch; the last step may have fewer images */
    uint32_t first, n_own; /* this rank draws from samples [first, first + n_own): its shard, or the
                              whole data set */
    uint32_t *order;       /* [n_own] samples in the order in which epoch `epoch` draws them */
    uint32_t epoch;
    uint32_t *samples; /* [n_max] memory for the samples of a padded batch */
    real *weights;     /* [n_max] memory for the weights of a padded batch */
};

/* Images of one rank in one step. The arrays belong to the sampler and are valid until the next
 * call of a sampler function. */
struct batch {
    uint32_t n;              /* number of images of this rank, including padding; can be 0 */
    const uint32_t *samples; /* [n] indices in the data set */
    const real *weights;     /* [n] weight in the loss: 1 per image, 0 for padding; NULL: all 1 */
    uint32_t global;         /* number of images of all ranks in this step, without padding */
};

/* Opens a sampler. The caller has set the fields up to `ranks` and zeroed the others. ERR_ARGUMENT
 * if global_batch is not within [ranks, n_samples], or if a contiguous shard would be empty. Call
 * sampler_close in any case. */
enum status sampler_open(struct sampler *s, struct error *e);
void sampler_close(struct sampler *s);

/* Returns this rank's batch in step `step` of `epoch`; steps count from 0. */
struct batch sampler_get(struct sampler *s, uint32_t epoch, uint32_t step);

/* Returns the number of micro-batches of `batch`, equal on all ranks: `accumulate` for a full
 * batch, and at most `accumulate` for a smaller batch. A micro-batch has at most sampler_micro_max
 * images. */
uint32_t sampler_micro_batches(const struct sampler *s, const struct batch *batch,
                               uint32_t accumulate);
uint32_t sampler_micro_max(const struct sampler *s, uint32_t accumulate);

/* Returns micro-batch i of n. Images are divided evenly, the larger micro-batches first; a
 * micro-batch can be empty. */
struct batch batch_part(const struct batch *batch, uint32_t i, uint32_t n);

/* Returns the number of images in a batch, without padding. */
uint32_t batch_counted(const struct batch *batch);

/* Fills `needs` [n_own] with the samples that this rank needs in `epoch`, ascending and without
 * duplicates. With contiguous sharding: the whole shard, even if the epoch drops some samples.
 * Returns the number of samples. */
uint32_t sampler_needs(struct sampler *s, uint32_t epoch, uint32_t *needs);
