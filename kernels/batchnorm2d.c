/* Ioffe and Szegedy, "Batch normalization", ICML 2015, with running statistics as PyTorch keeps
 * them: an exponential mean of the batches' means and of their unbiased variances.
 *
 * Forward reads the batch once for sums of x - r and (x - r)^2 a channel, where r is near the
 * batch's own mean, so that the variance does not cancel: its first number or, where ranks share
 * the batch, the running mean, which is the same on all of them. One group sum a pass makes the
 * statistics those of all ranks. Sums are in double; a channel is summed by one thread in the order
 * of the images, so they do not depend on the number of threads. */
#include <math.h>

#include "kernels/base/simd.h"
#include "kernels/layer_tables.h"

/* What forward leaves for backward, and backward's own coefficients in scratch. */
struct statistics {
    double count;           /* numbers a channel over all ranks; 0: running statistics were used */
    double *mean, *inverse; /* [C]; the inverse of the standard deviation */
};

struct batchnorm_call {
    const struct exec *ex;
    size_t images, channels, plane;
    struct statistics s;
    double *sums;        /* [C,2], and the count */
    const real *running; /* [C]: running means */
    const real *x, *dy, *weight, *bias;
    real *y, *dx;
};

static size_t batchnorm2d_saved_bytes(const struct layer_desc *layer, int n)
{
    (void)n;
    return (2 * (size_t)layer->in.c + 1) * sizeof(double);
}

static size_t batchnorm2d_scratch_bytes(const struct layer_desc *layer, int n, int threads)
{
    (void)n;
    (void)threads;
    return (2 * (size_t)layer->in.c + 1) * sizeof(double);
}

static struct batchnorm_call call_begin(const struct exec *ex, const struct layer_desc *layer,
                                        int n, const real *x, const real *params, double *saved,
                                        void *scratch)
{
    size_t channels = (size_t)layer->in.c;
    return (struct batchnorm_call){
        .ex = ex,
        .images = (size_t)n,
        .channels = channels,
        .plane = (size_t)layer->in.h * (size_t)layer->in.w,
        .s = {.count = saved[0], .mean = saved + 1, .inverse = saved + 1 + channels},
        .sums = scratch,
        .running = ex->buffers + layer->buffer_offset,
        .x = x,
        .weight = params,
        .bias = params + channels,
    };
}

static bool counts(const struct exec *ex, size_t image)
{
    return !ex->weights || ex->weights[image] != 0;
}

/* Runs f over channels, or over planes, in blocks of about ELEMENTS_PER_BLOCK numbers. */
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

/* sums += sum of (x - a) and of (x - a) * (z - b) over p numbers, in a fixed order that vectorises.
 */
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

/* --- Forward ---------------------------------------------------------------------------------- */

/* What the sums of a channel are taken around. */
static double near_mean(const struct batchnorm_call *call, size_t c)
{
    if (call->ex->group_sum)
        return (double)call->running[c];
    for (size_t i = 0; i < call->images; i++)
        if (counts(call->ex, i))
            return (double)call->x[(i * call->channels + c) * call->plane];
    return 0;
}

SIMD_CLONES static void sum_inputs(void *arg, size_t begin, size_t end, int thread)
{
    (void)thread;
    const struct batchnorm_call *call = arg;
    for (size_t c = begin; c < end; c++) {
        double sums[2] = {0}, shift = near_mean(call, c);
        for (size_t i = 0; i < call->images; i++) {
            const real *x = call->x + (i * call->channels + c) * call->plane;
            if (counts(call->ex, i))
                add_products(sums, x, shift, x, shift, call->plane);
        }
        call->s.mean[c] = shift; /* until the sums are those of all ranks */
        call->sums[2 * c] = sums[0];
        call->sums[2 * c + 1] = sums[1];
    }
}

/* Sums over the ranks that share the batch, where there are others. */
static void sum_group(const struct batchnorm_call *call, size_t n)
{
    if (call->ex->group_sum)
        call->ex->group_sum(call->ex->group_arg, call->sums, n);
}

static double count_numbers(const struct batchnorm_call *call)
{
    size_t images = 0;
    for (size_t i = 0; i < call->images; i++)
        images += counts(call->ex, i);
    return (double)(images * call->plane);
}

/* One number has no unbiased variance: the running one then stays. */
static void update_running(real *mean, real *var, double batch_mean, double batch_var, double count,
                           double momentum)
{
    *mean = (real)((1 - momentum) * (double)*mean + momentum * batch_mean);
    if (count > 1)
        *var = (real)((1 - momentum) * (double)*var + momentum * batch_var * (count / (count - 1)));
}

/* Statistics of the batch; the running ones take their share of them. */
static void use_batch(struct batchnorm_call *call, const struct layer_desc *layer)
{
    real *mean = call->ex->buffers + layer->buffer_offset, *var = mean + call->channels;
    double count = call->s.count;
    for (size_t c = 0; c < call->channels; c++) {
        double d = call->sums[2 * c] / count, square = call->sums[2 * c + 1] / count;
        double variance = square - d * d;
        variance = variance < 0 ? 0 : variance; /* NaN stays */
        call->s.mean[c] += d;
        call->s.inverse[c] = 1 / sqrt(variance + layer->epsilon);
        update_running(&mean[c], &var[c], call->s.mean[c], variance, count, layer->momentum);
    }
}

static void use_running(struct batchnorm_call *call, const struct layer_desc *layer)
{
    const real *var = call->running + call->channels;
    for (size_t c = 0; c < call->channels; c++) {
        call->s.mean[c] = (double)call->running[c];
        call->s.inverse[c] = 1 / sqrt((double)var[c] + layer->epsilon);
    }
}

SIMD_CLONES static void normalise(void *arg, size_t begin, size_t end, int thread)
{
    (void)thread;
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

/* A batch of which nothing counts on any rank has no statistics of its own. */
static void batchnorm2d_forward(const struct exec *ex, const struct layer_desc *layer, int n,
                                real *y, const real *x, const real *params, void *saved,
                                void *scratch)
{
    double *kept = saved;
    kept[0] = 0;
    struct batchnorm_call call = call_begin(ex, layer, n, x, params, kept, scratch);
    call.y = y;
    if (ex->training && !ex->fixed_statistics) {
        run_channels(&call, sum_inputs);
        call.sums[2 * call.channels] = count_numbers(&call);
        sum_group(&call, 2 * call.channels + 1);
        kept[0] = call.s.count = call.sums[2 * call.channels];
    }
    if (call.s.count > 0)
        use_batch(&call, layer);
    else
        use_running(&call, layer);
    run_planes(&call, normalise);
}

/* --- Backward --------------------------------------------------------------------------------- */

/* Sums of dy and of dy * (x - mean) a channel. */
SIMD_CLONES static void sum_gradients(void *arg, size_t begin, size_t end, int thread)
{
    (void)thread;
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

static void store_gradients(const struct batchnorm_call *call, real *dparams)
{
    for (size_t c = 0; c < call->channels; c++) {
        real dweight = (real)(call->sums[2 * c + 1] * call->s.inverse[c]);
        real dbias = (real)call->sums[2 * c];
        dparams[c] = call->ex->accumulate ? dparams[c] + dweight : dweight;
        dparams[call->channels + c] =
            call->ex->accumulate ? dparams[call->channels + c] + dbias : dbias;
    }
}

/* dx = weight/deviation (dy - mean(dy) - z mean(dy z)), z being the normalised input; the means are
 * constants of a batch that was normalised by the running statistics, and padding learns nothing.
 */
SIMD_CLONES static void differentiate(void *arg, size_t begin, size_t end, int thread)
{
    (void)thread;
    const struct batchnorm_call *call = arg;
    for (size_t p = begin; p < end; p++) {
        size_t c = p % call->channels;
        double scale = (double)call->weight[c] * call->s.inverse[c];
        double share = call->s.count > 0 ? scale / call->s.count : 0;
        if (!counts(call->ex, p / call->channels))
            scale = share = 0;
        double inverse2 = call->s.inverse[c] * call->s.inverse[c];
        real of_dy = (real)scale, constant = (real)(-share * call->sums[2 * c]);
        real of_x = (real)(-share * call->sums[2 * c + 1] * inverse2);
        real mean = (real)call->s.mean[c];
        const real *restrict x = call->x + p * call->plane, *restrict dy =
                                                                call->dy + p * call->plane;
        real *restrict dx = call->dx + p * call->plane;
        for (size_t i = 0; i < call->plane; i++)
            dx[i] = of_dy * dy[i] + (of_x * (x[i] - mean) + constant);
    }
}

static void batchnorm2d_backward(const struct exec *ex, const struct layer_desc *layer, int n,
                                 real *dx, real *dparams, const real *dy, const real *x,
                                 const real *y, const real *params, const void *saved,
                                 void *scratch)
{
    (void)y;
    struct batchnorm_call call = call_begin(ex, layer, n, x, params, (double *)saved, scratch);
    call.dy = dy;
    call.dx = dx;
    run_channels(&call, sum_gradients);
    store_gradients(&call, dparams);
    if (!dx)
        return;
    if (call.s.count > 0)
        sum_group(&call, 2 * call.channels);
    run_planes(&call, differentiate);
}

const struct layer_kernel layer_batchnorm2d = {
    .name = "batchnorm2d",
    .saved_bytes = batchnorm2d_saved_bytes,
    .scratch_bytes = batchnorm2d_scratch_bytes,
    .forward = batchnorm2d_forward,
    .backward = batchnorm2d_backward,
};
