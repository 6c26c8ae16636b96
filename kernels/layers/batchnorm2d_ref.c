/* Plain loops: the test oracle for batchnorm2d.c. Never tuned. Mean and variance each take one pass
 * and one sum over ranks. */
#include <math.h>

#include "kernels/layers/batchnorm.h"

static size_t at(const struct layer_desc *l, int image, int channel, int position)
{
    return ((size_t)image * (size_t)l->in.c + (size_t)channel) * (size_t)(l->in.h * l->in.w) +
           (size_t)position;
}

/* Sets values[c] to the sum of (x - mean[c])^power over channel c, for c < C, and values[C] to the
 * number of terms per channel. Sums over all ranks that share the batch, and leaves out padding
 * images. If `mean` is NULL, all means are 0. */
static void sum_powers(const struct layer_call *k, double *values, const double *mean, int power)
{
    const struct layer_desc *l = k->layer;
    int channels = l->in.c, plane = l->in.h * l->in.w;
    for (int c = 0; c <= channels; c++)
        values[c] = 0;
    for (int i = 0; i < k->n; i++) {
        bool counts = batchnorm_counts(k->ex, (size_t)i);
        for (int c = 0; c < channels && counts; c++)
            for (int j = 0; j < plane; j++)
                values[c] +=
                    pow((double)k->x[at(l, i, c, j)] - (mean != NULL ? mean[c] : 0), power);
        values[channels] += counts ? plane : 0;
    }
    batchnorm_sum_group(k->ex, values, (size_t)channels + 1);
}

/* Saved for backward: number of values per channel, then means, then sqrt(variance + epsilon). */
struct saved {
    double *count, *mean, *deviation;
};

static struct saved saved_of(const struct layer_call *k)
{
    double *saved = k->saved;
    return (struct saved){
        .count = saved, .mean = saved + 1, .deviation = saved + 1 + k->layer->in.c};
}

/* Sets `s` to the batch statistics and updates the running statistics. The batch statistics cover
 * this rank's images or, if group_sum is set, the images of all ranks that share a batch. If all
 * images are padding, *s.count is 0 and the running statistics do not change. */
static void batch_statistics(const struct layer_call *k, struct saved s)
{
    const struct layer_desc *l = k->layer;
    real *running_mean = k->ex->buffers + l->buffer_offset, *running_var = running_mean + l->in.c;
    double *sums = k->scratch;
    sum_powers(k, sums, NULL, 1);
    *s.count = sums[l->in.c];
    for (int c = 0; c < l->in.c; c++)
        s.mean[c] = sums[c] / *s.count;
    sum_powers(k, sums, s.mean, 2);
    for (int c = 0; c<l->in.c && * s.count> 0; c++) {
        s.deviation[c] = sqrt(sums[c] / *s.count + l->epsilon);
        if (!isfinite(s.mean[c]) || !isfinite(sums[c])) /* overflow skips the step, so running_* are
                                                           not updated */
            continue;
        running_mean[c] =
            (real)((1 - l->momentum) * (double)running_mean[c] + l->momentum * s.mean[c]);
        if (*s.count > 1)
            running_var[c] = (real)((1 - l->momentum) * (double)running_var[c] +
                                    l->momentum * sums[c] / (*s.count - 1));
    }
}

static void batchnorm2d_ref_forward(const struct layer_call *k)
{
    const struct layer_desc *l = k->layer;
    struct saved s = saved_of(k);
    const real *running = k->ex->buffers + l->buffer_offset;
    *s.count = 0;
    if (k->ex->training && !k->ex->fixed_statistics)
        batch_statistics(k, s);
    for (int c = 0; c < l->in.c && *s.count == 0; c++) {
        s.mean[c] = (double)running[c];
        s.deviation[c] = sqrt((double)running[l->in.c + c] + l->epsilon);
    }
    for (int i = 0; i < k->n; i++) {
        for (int c = 0; c < l->in.c; c++)
            for (int j = 0; j < l->in.h * l->in.w; j++) {
                double z = ((double)k->x[at(l, i, c, j)] - s.mean[c]) / s.deviation[c];
                k->y[at(l, i, c, j)] =
                    (real)(z * (double)k->params[c] + (double)k->params[l->in.c + c]);
            }
        exec_poll(k->ex);
    }
}

static void batchnorm2d_ref_backward(const struct layer_call *k)
{
    const struct layer_desc *l = k->layer;
    const struct saved s = saved_of(k);
    double *sums = k->scratch; /* [C] sums of dy z, then [C] sums of dy; z: normalised input */
    for (int c = 0; c < 2 * l->in.c; c++)
        sums[c] = 0;
    for (int i = 0; i < k->n; i++)
        for (int c = 0; c < l->in.c; c++)
            for (int j = 0; j < l->in.h * l->in.w; j++) {
                double g = (double)k->dy[at(l, i, c, j)];
                sums[c] += g * (((double)k->x[at(l, i, c, j)] - s.mean[c]) / s.deviation[c]);
                sums[l->in.c + c] += g;
            }
    for (int c = 0; c < 2 * l->in.c; c++)
        k->dparams[c] = (real)sums[c] + (k->ex->accumulate ? k->dparams[c] : 0);
    if (k->dx != NULL && *s.count > 0)
        batchnorm_sum_group(k->ex, sums, 2 * (size_t)l->in.c);
    for (int i = 0; i < k->n && k->dx != NULL; i++)
        for (int c = 0; c < l->in.c; c++)
            for (int j = 0; j < l->in.h * l->in.w; j++) {
                double z = ((double)k->x[at(l, i, c, j)] - s.mean[c]) / s.deviation[c];
                double g = (double)k->dy[at(l, i, c, j)];
                if (*s.count > 0)
                    g -= (sums[l->in.c + c] + z * sums[c]) / *s.count;
                k->dx[at(l, i, c, j)] = batchnorm_counts(k->ex, (size_t)i)
                                            ? (real)((double)k->params[c] / s.deviation[c] * g)
                                            : 0;
            }
    exec_poll(k->ex);
}

const struct layer_kernel layer_batchnorm2d_ref = {
    .saved_bytes = batchnorm_saved_bytes,
    .scratch_bytes = batchnorm_scratch_bytes,
    .forward = batchnorm2d_ref_forward,
    .backward = batchnorm2d_ref_backward,
};
