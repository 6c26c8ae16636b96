#include "bench/workloads/train_cnn/parts/sampler.h"

#include <stdlib.h>
#include <string.h>

#include "kernels/base/mem.h"
#include "kernels/base/pool.h"
#include "kernels/base/rng.h"

/* Returns how many of `n` images are used: with REMAINDER_drop, the largest multiple of the number
 * of ranks; otherwise all. */
static uint32_t counted(const struct sampler *s, uint32_t n)
{
    return s->remainder == REMAINDER_drop ? n - n % (uint32_t)s->ranks : n;
}

static uint32_t divide_up(uint32_t a, uint32_t b)
{
    return a / b + (a % b != 0);
}

/* Returns the number of images in a step over all ranks, including images that train.remainder =
 * drop leaves out. The last step of an epoch may have fewer images. */
static uint32_t step_images(const struct sampler *s, uint32_t step)
{
    uint32_t left = s->n_samples - step * s->global_batch;
    return left < s->global_batch ? left : s->global_batch;
}

/* Returns the index of the first sample in the shard of `rank`. */
static uint32_t shard_begin(const struct sampler *s, int rank)
{
    return (uint32_t)((uint64_t)s->n_samples * (uint64_t)rank / (uint64_t)s->ranks);
}

static void find_own(struct sampler *s)
{
    bool shard = s->shard == SHARD_contiguous;
    s->first = shard ? shard_begin(s, s->rank) : 0;
    s->n_own = shard ? shard_begin(s, s->rank + 1) - s->first : s->n_samples;
}

/* Fills in the order of an epoch. Each contiguous shard has its own random stream. With one rank,
 * global and contiguous sharding give the same order. */
static void fill_order(struct sampler *s, uint32_t epoch)
{
    uint64_t seed = s->seed;
    if (s->shard == SHARD_contiguous)
        seed ^= (uint64_t)s->rank << 32;
    s->epoch = epoch;
    for (uint32_t i = 0; i < s->n_own; i++)
        s->order[i] = i;
    if (s->shuffle)
        rng_permutation(s->order, s->n_own, seed, RNG_STREAM(RNG_SHUFFLE, 0), epoch);
    for (uint32_t i = 0; i < s->n_own; i++)
        s->order[i] += s->first;
}

static enum status check_sizes(const struct sampler *s, struct error *e)
{
    if (s->global_batch > s->n_samples) {
        return error_set(e, ERR_ARGUMENT,
                         "train.global_batch = %u: expected at most %u, the number of images",
                         s->global_batch, s->n_samples);
    }
    if (s->shard == SHARD_contiguous && s->n_samples < (uint32_t)s->ranks) {
        return error_set(e, ERR_ARGUMENT,
                         "data.shard = contiguous: %u samples are too few for %d ranks",
                         s->n_samples, s->ranks);
    }
    if (s->global_batch < (uint32_t)s->ranks) {
        return error_set(
            e, ERR_ARGUMENT,
            "train.global_batch = %u: expected at least one image for each of %d ranks, %d in all",
            s->global_batch, s->ranks, s->ranks);
    }
    return OK;
}

enum status sampler_open(struct sampler *s, struct error *e)
{
    TRY(check_sizes(s, e));
    s->steps = divide_up(s->n_samples, s->global_batch);
    if (counted(s, step_images(s, s->steps - 1)) == 0)
        s->steps--;
    s->full_images = counted(s, s->global_batch);
    s->epoch_images = (s->steps - 1) * s->full_images + counted(s, step_images(s, s->steps - 1));
    s->n_max = divide_up(s->full_images, (uint32_t)s->ranks);
    find_own(s);
    TRY(MEM_NEW(s->order, s->n_own, "the order of samples", e));
    TRY(MEM_NEW(s->samples, s->n_max, "the samples of a batch", e));
    TRY(MEM_NEW(s->weights, s->n_max, "the weights of a batch", e));
    fill_order(s, 0);
    return OK;
}

void sampler_close(struct sampler *s)
{
    free(s->order);
    free(s->samples);
    free(s->weights);
    s->order = s->samples = NULL;
    s->weights = NULL;
}

/* Pads this rank's batch to a size that is equal on all ranks. Positions beyond the global batch
 * repeat the first images of the global batch with weight 0. */
static struct batch padded(struct sampler *s, const uint32_t *images, uint32_t count)
{
    uint32_t n = divide_up(count, (uint32_t)s->ranks);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t position = (uint32_t)s->rank * n + i;
        s->samples[i] = images[position % count];
        s->weights[i] = position < count ? 1 : 0;
    }
    return (struct batch){.n = n, .samples = s->samples, .weights = s->weights, .global = count};
}

/* Contiguous sharding: returns the number of this rank's samples among an epoch's first n
 * positions. Local `place`: the rank's index in the round-robin order of ranks (sampler.h). */
static uint32_t dealt(const struct sampler *s, uint32_t n)
{
    uint32_t ranks = (uint32_t)s->ranks, rank = (uint32_t)s->rank;
    uint32_t larger_before = s->first - rank * (s->n_samples / ranks);
    bool larger = s->n_own > s->n_samples / ranks;
    uint32_t place = larger ? larger_before : s->n_samples % ranks + rank - larger_before;
    return n / ranks + (place < n % ranks);
}

static struct batch padded_shard(struct sampler *s, const uint32_t *images, uint32_t n,
                                 uint32_t count)
{
    uint32_t all = divide_up(count, (uint32_t)s->ranks);
    for (uint32_t i = 0; i < all; i++) {
        s->samples[i] = i < n ? images[i] : s->first;
        s->weights[i] = i < n ? 1 : 0;
    }
    return (struct batch){.n = all, .samples = s->samples, .weights = s->weights, .global = count};
}

static struct batch get_shard(struct sampler *s, uint32_t step)
{
    uint32_t place = step * s->global_batch, count = step_images(s, step);
    uint32_t begin = dealt(s, place), n = dealt(s, place + count) - begin;
    const uint32_t *images = s->order + begin;
    if (s->remainder == REMAINDER_pad)
        return padded_shard(s, images, n, count);
    if (s->remainder == REMAINDER_drop) {
        count = counted(s, count);
        n = count / (uint32_t)s->ranks;
    }
    return (struct batch){.n = n, .samples = images, .global = count};
}

static struct batch get_global(struct sampler *s, uint32_t step)
{
    const uint32_t *images = s->order + (size_t)step * s->global_batch;
    uint32_t count = counted(s, step_images(s, step));
    if (s->remainder == REMAINDER_pad)
        return padded(s, images, count);
    size_t begin, end;
    pool_share(count, (size_t)s->rank, (size_t)s->ranks, &begin, &end);
    return (struct batch){.n = (uint32_t)(end - begin), .samples = images + begin, .global = count};
}

struct batch sampler_get(struct sampler *s, uint32_t epoch, uint32_t step)
{
    if (epoch != s->epoch)
        fill_order(s, epoch);
    return s->shard == SHARD_contiguous ? get_shard(s, step) : get_global(s, step);
}

uint32_t sampler_micro_max(const struct sampler *s, uint32_t accumulate)
{
    return divide_up(s->n_max, accumulate);
}

/* The number of micro-batches is proportional to the largest number of images on any rank, rounded
 * up. A full batch has `accumulate` micro-batches. */
uint32_t sampler_micro_batches(const struct sampler *s, const struct batch *batch,
                               uint32_t accumulate)
{
    uint64_t most = divide_up(batch->global, (uint32_t)s->ranks);
    return (uint32_t)((most * accumulate + s->n_max - 1) / s->n_max);
}

struct batch batch_part(const struct batch *batch, uint32_t i, uint32_t n)
{
    size_t begin, end;
    pool_share(batch->n, i, n, &begin, &end);
    return (struct batch){.n = (uint32_t)(end - begin),
                          .samples = batch->samples + begin,
                          .weights = batch->weights != NULL ? batch->weights + begin : NULL,
                          .global = batch->global};
}

uint32_t batch_counted(const struct batch *batch)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < batch->n; i++)
        n += batch->weights == NULL || batch->weights[i] > 0;
    return n;
}

uint32_t sampler_needs(struct sampler *s, uint32_t epoch, uint32_t *needs)
{
    uint32_t n = 0;
    if (s->shard == SHARD_contiguous) {
        for (; n < s->n_own; n++)
            needs[n] = s->first + n;
        return n;
    }
    /* at first, `needs` has one flag per sample: 1 if the sample is needed */
    memset(needs, 0, s->n_own * sizeof *needs);
    for (uint32_t step = 0; step < s->steps; step++) {
        struct batch batch = sampler_get(s, epoch, step);
        for (uint32_t i = 0; i < batch.n; i++)
            needs[batch.samples[i]] = 1;
    }
    for (uint32_t i = 0; i < s->n_own; i++)
        if (needs[i] != 0)
            needs[n++] = i;
    return n;
}
