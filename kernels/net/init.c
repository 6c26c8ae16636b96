/* Initial weights. They are computed in double and rounded to float in both builds, so that the
 * float and the double trainer start from the same numbers. */
#include <math.h>

#include "kernels/base/rng.h"
#include "kernels/net/net.h"

/* Returns a random number in [0, 1). Each element of a tensor has two: `word` 0 and 1. */
static double unit_of(uint64_t seed, int tensor, size_t element, uint32_t word)
{
    const size_t low_bits = 20;
    uint32_t high = (uint32_t)(element >> low_bits);
    uint32_t low = (uint32_t)(element & (((size_t)1 << low_bits) - 1));
    return rng_unit(rng_word(seed, RNG_STREAM(RNG_INIT, tensor), 0, high, 2 * low + word));
}

static double uniform_of(uint64_t seed, int tensor, size_t element, double bound)
{
    return (2 * unit_of(seed, tensor, element, 0) - 1) * bound;
}

/* Returns a normally distributed number of mean 0 and standard deviation `deviation` (Box-Muller
 * method). The logarithm is finite, because 1 - unit_of() is in (0, 1]. */
static double normal_of(uint64_t seed, int tensor, size_t element, double deviation)
{
    const double two_pi = 6.283185307179586;
    double radius = sqrt(-2 * log(1 - unit_of(seed, tensor, element, 0)));
    return deviation * radius * cos(two_pi * unit_of(seed, tensor, element, 1));
}

static double initial_value(enum initializer initializer, const struct tensor_desc *t, int tensor,
                            size_t element, uint64_t seed)
{
    double fan_in = (double)t->fan_in, fan_out = (double)t->fan_out;
    if (t->norm)
        return t->bias ? 0 : 1;
    if (initializer == INIT_PYTORCH)
        return uniform_of(seed, tensor, element, 1 / sqrt(fan_in));
    if (t->bias)
        return 0;
    if (initializer == INIT_GLOROT)
        return uniform_of(seed, tensor, element, sqrt(6 / (fan_in + fan_out)));
    return normal_of(seed, tensor, element, sqrt(2 / fan_in));
}

real net_initial_value(const struct net_desc *desc, int tensor, size_t element, uint64_t seed)
{
    return (float)initial_value(desc->initializer, &desc->tensors[tensor], tensor, element, seed);
}

void net_init_tensors(const struct net_desc *desc, int first, int last, real *params, uint64_t seed)
{
    for (int t = first; t < last; t++) {
        const struct tensor_desc *tensor = &desc->tensors[t];
        real *to = params + (tensor->offset - desc->tensors[first].offset);
        for (size_t i = 0; i < tensor->count; i++)
            to[i] = net_initial_value(desc, t, i, seed);
    }
}

void net_init_params(const struct net_desc *desc, real *params, uint64_t seed)
{
    net_init_tensors(desc, 0, desc->n_tensors, params, seed);
}

void net_init_buffers(const struct net_desc *desc, real *buffers)
{
    for (int b = 0; b < desc->n_buffers; b++)
        for (size_t i = 0; i < desc->buffers[b].count; i++)
            buffers[desc->buffers[b].offset + i] = desc->buffers[b].bias ? 0 : 1;
}

static void fill_batch(struct net_batch *b)
{
    size_t image = shape_count(b->desc->input);
    for (uint32_t i = 0; i < (uint32_t)b->n; i++) {
        for (uint32_t k = 0; k < image; k++)
            b->images[i * image + k] = (uint8_t)rng_word(1, 0, 0, i, k);
        b->labels[i] = (uint8_t)(rng_word(2, 0, 0, 0, i) % (uint32_t)b->desc->classes);
        b->samples[i] = i;
    }
    net_init_params(b->desc, b->params, 1);
    net_init_buffers(b->desc, b->buffers);
}

enum status net_batch_open(struct net_batch *b, const struct net_desc *desc, int n, struct error *e)
{
    static const char what[] = "a batch of generated images and weights";
    size_t images = (size_t)n, params = desc->n_params;
    *b = (struct net_batch){.desc = desc, .n = n};
    TRY(MEM_KEEP(&b->memory, b->images, images * shape_count(desc->input), what, e));
    TRY(MEM_KEEP(&b->memory, b->labels, images, what, e));
    TRY(MEM_KEEP(&b->memory, b->samples, images, what, e));
    TRY(MEM_KEEP(&b->memory, b->params, params, what, e));
    TRY(MEM_KEEP(&b->memory, b->grads, params, what, e));
    TRY(MEM_KEEP(&b->memory, b->buffers, desc->n_buffer_values, what, e));
    b->ex =
        (struct exec){.training = true, .seed = 1, .samples = b->samples, .buffers = b->buffers};
    fill_batch(b);
    return OK;
}
