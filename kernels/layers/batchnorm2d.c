/* Ioffe and Szegedy, "Batch normalization", ICML 2015. As in PyTorch, running statistics are
 * exponential means of the batch means and of the unbiased batch variances.
 *
 * Forward reads the batch once, for sums of x - r and (x - r)^2 per channel, in double. The shift
 * r, close to the mean, avoids cancellation in the variance. r is the channel's first number or, if
 * ranks share the batch, the running mean, which is equal on all ranks. One thread sums a channel
 * in the order of the images, so results do not depend on the number of threads. */
#include "kernels/base/simd.h"
#include "kernels/layers/batchnorm.h"

/* run_channels calls f for all channels, run_planes for all planes. The threads of the pool share
 * this work, in blocks of about ELEMENTS_PER_BLOCK numbers. */
static void run_channels(const struct batchnorm_call *call, block_function *f)
{
    exec_for(call->ex, call->channels,
             images_per_block(ELEMENTS_PER_BLOCK, call->images * call->plane), f, (void *)call);
}

static void run_planes(const struct batchnorm_call *call, block_function *f)
{
    exec_for(call->ex, call->images * call->channels,
             images_per_block(ELEMENTS_PER_BLOCK, call->plane), f, (void *)call);
}

enum { LANES = 8 };

static inline double add_lanes(const double lane[LANES])
{
    return ((lane[0] + lane[4]) + (lane[2] + lane[6])) +
           ((lane[1] + lane[5]) + (lane[3] + lane[7]));
}

/* Adds the sum of x - a over p numbers to sums[0], and the sum of (x - a) * (z - b) to sums[1]. The
 * order of summation is fixed, and allows vector instructions. */
static inline void add_products(double sums[2], const real *x, double a, const real *z, double b,
                                size_t p)
{
    double first[LANES] = {0}, second[LANES] = {0}, rest[2] = {0};
    size_t whole = p / LANES * LANES;
    for (size_t i = 0; i < whole; i += LANES) {
        for (size_t l = 0; l < LANES; l++) {
            double u = (double)x[i + l] - a, v = (double)z[i + l] - b;
            first[l] += u;
            second[l] += u * v;
        }
    }
    for (size_t i = whole; i < p; i++) {
        rest[0] += (double)x[i] - a;
        rest[1] += ((double)x[i] - a) * ((double)z[i] - b);
    }
    sums[0] += add_lanes(first) + rest[0];
    sums[1] += add_lanes(second) + rest[1];
}

/* ---- Forward ---- */

/* Returns the shift r, which forward subtracts from the numbers of a channel before it sums them.
 * If ranks share the batch, r is the running mean. Otherwise r is the channel's first number in the
 * first image that is not padding; 0 if all images are padding. */
static double choose_shift(const struct batchnorm_call *call, size_t c)
{
    if (call->ex->group_sum != NULL)
        return (double)call->running[c];
    for (size_t i = 0; i < call->images; i++)
        if (batchnorm_counts(call->ex, i))
            return (double)call->x[(i * call->channels + c) * call->plane];
    return 0;
}

SIMD_CLONES static void sum_inputs(void *arg, size_t begin, size_t end, int thread)
{
    const struct batchnorm_call *call = arg;
    for (size_t c = begin; c < end; c++) {
        double sums[2] = {0}, shift = choose_shift(call, c);
        for (size_t i = 0; i < call->images; i++) {
            const real *x = call->x + (i * call->channels + c) * call->plane;
            if (batchnorm_counts(call->ex, i))
                add_products(sums, x, shift, x, shift, call->plane);
        }
        call->s.mean[c] = shift; /* batchnorm_forward adds the mean of x - shift to the shift */
        call->sums[2 * c] = sums[0];
        call->sums[2 * c + 1] = sums[1];
    }
}

SIMD_CLONES static void normalise(void *arg, size_t begin, size_t end, int thread)
{
    const struct batchnorm_call *call = arg;
    for (size_t p = begin; p < end; p++) {
        size_t c = p % call->channels;
        real mean = (real)call->s.mean[c], bias = call->bias[c];
        real scale = (real)((double)call->weight[c] * call->s.inverse[c]);
        const real *restrict x = call->x + p * call->plane;
        real *restrict y = call->y + p * call->plane;
        for (size_t i = 0; i < call->plane; i++)
            y[i] = (x[i] - mean) * scale + bias;
    }
}

static void sum_all_inputs(const struct batchnorm_call *call)
{
    run_channels(call, sum_inputs);
}

static void normalise_all(const struct batchnorm_call *call)
{
    run_planes(call, normalise);
}

static void batchnorm2d_forward(const struct layer_call *c)
{
    struct batchnorm_call call = batchnorm_begin(c);
    batchnorm_forward(&call, sum_all_inputs, normalise_all);
}

/* ---- Backward ---- */

SIMD_CLONES static void sum_gradients(void *arg, size_t begin, size_t end, int thread)
{
    const struct batchnorm_call *call = arg;
    for (size_t c = begin; c < end; c++) {
        double sums[2] = {0};
        for (size_t i = 0; i < call->images; i++) {
            size_t at = (i * call->channels + c) * call->plane;
            add_products(sums, call->dy + at, 0, call->x + at, call->s.mean[c], call->plane);
        }
        call->sums[2 * c] = sums[0];
        call->sums[2 * c + 1] = sums[1];
    }
}

/* Computes dx. The gradient of padding images is 0. */
SIMD_CLONES static void differentiate(void *arg, size_t begin, size_t end, int thread)
{
    const struct batchnorm_call *call = arg;
    for (size_t p = begin; p < end; p++) {
        struct batchnorm_gradient g = batchnorm_gradient_of(call, p % call->channels);
        if (!batchnorm_counts(call->ex, p / call->channels))
            g = (struct batchnorm_gradient){0};
        const real *restrict x = call->x + p * call->plane;
        const real *restrict dy = call->dy + p * call->plane;
        real *restrict dx = call->dx + p * call->plane;
        for (size_t i = 0; i < call->plane; i++)
            dx[i] = g.of_dy * dy[i] + (g.of_x * (x[i] - g.mean) + g.constant);
    }
}

static void sum_all_gradients(const struct batchnorm_call *call)
{
    run_channels(call, sum_gradients);
}

static void differentiate_all(const struct batchnorm_call *call)
{
    run_planes(call, differentiate);
}

static void batchnorm2d_backward(const struct layer_call *c)
{
    struct batchnorm_call call = batchnorm_begin(c);
    batchnorm_backward(&call, c->dparams, sum_all_gradients,
                       c->dx != NULL ? differentiate_all : NULL);
}

const struct layer_kernel layer_batchnorm2d = {
    .reference = &layer_batchnorm2d_ref,
    .saved_bytes = batchnorm_saved_bytes,
    .scratch_bytes = batchnorm_scratch_bytes,
    .forward = batchnorm2d_forward,
    .backward = batchnorm2d_backward,
};
