/* Which samples a rank trains on at each step: a pure function of (seed, epoch, step, rank, ranks),
 * so nothing needs to be kept to go on where a run stopped.
 *
 * Global: the order of an epoch depends on (seed, epoch) alone and the batch of a step is a slice
 * of it, so p ranks together see what one rank would.
 *
 * Contiguous: rank r owns samples [floor(N r / p), floor(N (r + 1) / p)) and orders them by itself.
 * The N places of an epoch are dealt to the ranks in turn, those with a sample more first. A step
 * therefore holds as many images over all ranks as a global one, a rank's part of it is the batch
 * over the ranks rounded down or up, and an epoch uses every sample once. `drop` leaves out the
 * images that only some ranks have; `pad` repeats the first image of the rank's shard. */
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

    uint32_t n_max;        /* images of this rank's largest batch */
    uint32_t steps;        /* of an epoch, the last of which may be smaller */
    uint32_t first, n_own; /* samples that this rank draws from: its shard, or all */
    uint32_t *order;       /* [n_own], of `epoch` */
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

/* Fields up to `ranks` are set by the caller, all others zero. ERR_ARGUMENT when no step has an image,
 * or a rank no shard. Closed with sampler_close, also after an error. */
enum status sampler_open(struct sampler *s, struct error *e);
void sampler_close(struct sampler *s);

/* Batch of step `step` < steps of `epoch`. */
struct batch sampler_get(struct sampler *s, uint32_t epoch, uint32_t step);

/* Gradient accumulation: how many micro-batches a rank computes a batch in where it computes its largest
 * in `accumulate`. All ranks say the same; a smaller batch, the last of an epoch, has fewer, so that
 * none of them is larger than sampler_micro_max images, nor much smaller than the others. */
uint32_t sampler_micro_batches(const struct sampler *s, const struct batch *batch,
                               uint32_t accumulate);
uint32_t sampler_micro_max(const struct sampler *s, uint32_t accumulate);

/* Micro-batch i of n: images share out evenly, larger ones first; where ranks have one image more or less
 * it may have none. */
struct batch batch_part(const struct batch *batch, uint32_t i, uint32_t n);

/* Images of a batch that count: padding does not. */
uint32_t batch_counted(const struct batch *batch);

/* Writes what this rank may use in `epoch` to needs [n_own], ascending and each once, and returns
 * how many those are. Of a contiguous shard it is all, in every epoch. */
uint32_t sampler_needs(struct sampler *s, uint32_t epoch, uint32_t *needs);
