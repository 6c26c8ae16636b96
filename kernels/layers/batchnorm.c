/* Computes batch statistics, running statistics and coefficients of gradients from the sums of each
 * channel. */
#include "kernels/layers/batchnorm.h"

#include <math.h>

size_t batchnorm_saved_bytes(const struct layer_desc *layer, int n)
{
    return batchnorm_bytes(layer);
}

size_t batchnorm_scratch_bytes(const struct layer_desc *layer, int n, int threads)
{
    return batchnorm_bytes(layer);
}

struct batchnorm_call batchnorm_begin(const struct layer_call *c)
{
    size_t channels = (size_t)c->layer->in.c;
    double *saved = c->saved;
    return (struct batchnorm_call){
        .ex = c->ex,
        .layer = c->layer,
        .images = (size_t)c->n,
        .channels = channels,
        .plane = (size_t)c->layer->in.h * (size_t)c->layer->in.w,
        .s = {.count = saved, .mean = saved + 1, .inverse = saved + 1 + channels},
        .sums = c->scratch,
        .running = c->ex->buffers + c->layer->buffer_offset,
        .x = c->x,
        .dy = c->dy,
        .weight = c->params,
        .bias = c->params + channels,
        .y = c->y,
        .dx = c->dx,
    };
}

static double count_numbers(const struct batchnorm_call *call)
{
    size_t images = 0;
    for (size_t i = 0; i < call->images; i++)
        images += batchnorm_counts(call->ex, i);
    return (double)(images * call->plane);
}

/* Updates the running mean and variance of one channel. An overflow changes neither, because a
 * 16-bit step that overflows is skipped. The unbiased variance needs count > 1. */
static void update_running(real *mean, real *var, double batch_mean, double batch_var, double count,
                           double momentum)
{
    if (!isfinite(batch_mean) || !isfinite(batch_var))
        return;
    *mean = (real)((1 - momentum) * (double)*mean + momentum * batch_mean);
    if (count > 1)
        *var = (real)((1 - momentum) * (double)*var + momentum * batch_var * (count / (count - 1)));
}

static void use_batch(struct batchnorm_call *call)
{
    real *mean = call->running, *var = mean + call->channels;
    double count = *call->s.count;
    for (size_t c = 0; c < call->channels; c++) {
        double d = call->sums[2 * c] / count, square = call->sums[2 * c + 1] / count;
        double variance = square - d * d;
        variance = variance < 0 ? 0 : variance; /* a NaN variance stays NaN */
        call->s.mean[c] += d;
        call->s.inverse[c] = 1 / sqrt(variance + call->layer->epsilon);
        update_running(&mean[c], &var[c], call->s.mean[c], variance, count, call->layer->momentum);
    }
}

static void use_running(struct batchnorm_call *call)
{
    const real *var = call->running + call->channels;
    for (size_t c = 0; c < call->channels; c++) {
        call->s.mean[c] = (double)call->running[c];
        call->s.inverse[c] = 1 / sqrt((double)var[c] + call->layer->epsilon);
    }
}

/* Normalises by the batch statistics in training, unless fixed_statistics is set or all images of
 * the batch are padding. Otherwise normalises by the running statistics. If ex->group_sum is set,
 * the batch includes the images of other ranks. */
void batchnorm_forward(struct batchnorm_call *call, batchnorm_pass *sum_inputs,
                       batchnorm_pass *normalise)
{
    *call->s.count = 0;
    if (call->ex->training && !call->ex->fixed_statistics) {
        sum_inputs(call);
        call->sums[2 * call->channels] = count_numbers(call);
        batchnorm_sum_group(call->ex, call->sums, 2 * call->channels + 1);
        *call->s.count = call->sums[2 * call->channels];
    }
    if (*call->s.count > 0)
        use_batch(call);
    else
        use_running(call);
    normalise(call);
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

/* Returns the coefficients for channel c of dx = weight/deviation (dy - mean(dy) - z mean(dy z)),
 * where z is the normalised input. If forward used running statistics, which are constants, the
 * terms with mean(dy) and mean(dy z) are 0. */
struct batchnorm_gradient batchnorm_gradient_of(const struct batchnorm_call *call, size_t c)
{
    double scale = (double)call->weight[c] * call->s.inverse[c];
    double share = *call->s.count > 0 ? scale / *call->s.count : 0;
    double inverse2 = call->s.inverse[c] * call->s.inverse[c];
    return (struct batchnorm_gradient){
        .mean = (real)call->s.mean[c],
        .of_dy = (real)scale,
        .of_x = (real)(-share * call->sums[2 * c + 1] * inverse2),
        .constant = (real)(-share * call->sums[2 * c]),
    };
}

void batchnorm_backward(struct batchnorm_call *call, real *dparams, batchnorm_pass *sum_gradients,
                        batchnorm_pass *differentiate)
{
    sum_gradients(call);
    store_gradients(call, dparams);
    if (differentiate == NULL)
        return;
    if (*call->s.count > 0)
        batchnorm_sum_group(call->ex, call->sums, 2 * call->channels);
    differentiate(call);
}
