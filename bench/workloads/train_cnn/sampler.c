#include "bench/workloads/train_cnn/sampler.h"

#include <stdlib.h>

#include "kernels/base/pool.h"
#include "kernels/base/rng.h"

/* Images that count in a batch of `n`. */
static uint32_t counted(const struct sampler *s, uint32_t n)
{
    return s->remainder == REMAINDER_DROP ? n - n % (uint32_t)s->ranks : n;
}

static uint32_t divide_up(uint32_t a, uint32_t b)
{
    return a / b + (a % b != 0);
}

/* Images of step `step` before the remainder rule: the last step of an epoch takes what is left. */
static uint32_t step_images(const struct sampler *s, uint32_t step)
{
    uint32_t left = s->n_samples - step * s->global_batch;
    return left < s->global_batch ? left : s->global_batch;
}

static void fill_order(struct sampler *s, uint32_t epoch)
{
    s->epoch = epoch;
    if (s->shuffle) {
        rng_permutation(s->order, s->n_samples, s->seed, RNG_STREAM(RNG_SHUFFLE, 0), epoch);
        return;
    }
    for (uint32_t i = 0; i < s->n_samples; i++)
        s->order[i] = i;
}

enum status sampler_open(struct sampler *s, struct error *e)
{
    s->order = NULL;
    s->samples = NULL;
    s->weights = NULL;
    if (s->global_batch > s->n_samples) {
        return error_set(e, ERR_ARGUMENT, "a global batch of %u images from a data set of %u",
                         s->global_batch, s->n_samples);
    }
    if (counted(s, s->global_batch) == 0) {
        return error_set(
            e, ERR_ARGUMENT,
            "train.remainder = drop leaves nothing of a global batch of %u on %d ranks",
            s->global_batch, s->ranks);
    }
    s->steps = divide_up(s->n_samples, s->global_batch);
    if (counted(s, step_images(s, s->steps - 1)) == 0)
        s->steps--;
    s->n_max = divide_up(s->global_batch, (uint32_t)s->ranks);
    s->order = malloc(s->n_samples * sizeof *s->order);
    s->samples = malloc(s->n_max * sizeof *s->samples);
    s->weights = malloc(s->n_max * sizeof *s->weights);
    if (s->order == NULL || s->samples == NULL || s->weights == NULL) {
        sampler_close(s);
        return error_set(e, ERR_MEMORY, "no memory for the order of %u samples", s->n_samples);
    }
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

/* Every rank computes the same number of images; what lies beyond the batch repeats its first ones
 * with weight 0. */
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

struct batch sampler_get(struct sampler *s, uint32_t epoch, uint32_t step)
{
    if (epoch != s->epoch)
        fill_order(s, epoch);
    const uint32_t *images = s->order + (size_t)step * s->global_batch;
    uint32_t count = counted(s, step_images(s, step));
    if (s->remainder == REMAINDER_PAD)
        return padded(s, images, count);
    size_t begin, end;
    pool_share(count, (size_t)s->rank, (size_t)s->ranks, &begin, &end);
    return (struct batch){.n = (uint32_t)(end - begin), .samples = images + begin, .global = count};
}
