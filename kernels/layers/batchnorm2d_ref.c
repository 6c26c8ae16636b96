/* Plain loops: the oracle for batchnorm2d.c. Never tuned. Mean and variance are two passes and two
 * group sums. */
#include <math.h>

#include "kernels/layers/layer_tables.h"

/* Saved: the count, then mean and standard deviation of each channel. */
static size_t batchnorm2d_ref_bytes(const struct layer_desc *layer, int n)
{
    (void)n;
    return (2 * (size_t)layer->in.c + 1) * sizeof(double);
}

static size_t batchnorm2d_ref_scratch(const struct layer_desc *layer, int n, int threads)
{
    (void)threads;
    return batchnorm2d_ref_bytes(layer, n);
}

static size_t at(const struct layer_desc *l, int image, int channel, int position)
{
    return ((size_t)image * (size_t)l->in.c + (size_t)channel) * (size_t)(l->in.h * l->in.w) +
           (size_t)position;
}

static bool counts(const struct exec *ex, int image)
{
    return !ex->weights || ex->weights[image] != 0;
}

static void sum_group(const struct exec *ex, double *values, int n)
{
    if (ex->group_sum)
        ex->group_sum(ex->group_arg, values, (size_t)n);
}

/* values [C] <- sums of (x - mean)^power, values [C] <- how many numbers of a channel count */
static void sum_powers(const struct exec *ex, const struct layer_desc *l, int n, double *values,
                       const real *x, const double *mean, int power)
{
    int channels = l->in.c, plane = l->in.h * l->in.w;
    for (int c = 0; c <= channels; c++)
        values[c] = 0;
    for (int i = 0; i < n; i++) {
        for (int c = 0; c < channels && counts(ex, i); c++)
            for (int j = 0; j < plane; j++)
                values[c] += pow((double)x[at(l, i, c, j)] - (mean ? mean[c] : 0), power);
        values[channels] += counts(ex, i) ? plane : 0;
    }
    sum_group(ex, values, channels + 1);
}

/* mean and deviation [C] of the batch over all ranks, of which *count numbers a channel count. */
static void batch_statistics(const struct exec *ex, const struct layer_desc *l, int n,
                             double *count, double *mean, double *deviation, const real *x,
                             double *scratch)
{
    real *running_mean = ex->buffers + l->buffer_offset, *running_var = running_mean + l->in.c;
    sum_powers(ex, l, n, scratch, x, NULL, 1);
    *count = scratch[l->in.c];
    for (int c = 0; c < l->in.c; c++)
        mean[c] = scratch[c] / *count;
    sum_powers(ex, l, n, scratch, x, mean, 2);
    for (int c = 0; c<l->in.c && * count> 0; c++) {
        deviation[c] = sqrt(scratch[c] / *count + l->epsilon);
        running_mean[c] =
            (real)((1 - l->momentum) * (double)running_mean[c] + l->momentum * mean[c]);
        if (*count > 1)
            running_var[c] = (real)((1 - l->momentum) * (double)running_var[c] +
                                    l->momentum * scratch[c] / (*count - 1));
    }
}

static void batchnorm2d_ref_forward(const struct exec *ex, const struct layer_desc *l, int n,
                                    real *y, const real *x, const real *params, void *saved,
                                    void *scratch)
{
    double *count = saved, *mean = count + 1, *deviation = mean + l->in.c;
    const real *running = ex->buffers + l->buffer_offset;
    *count = 0;
    if (ex->training && !ex->fixed_statistics)
        batch_statistics(ex, l, n, count, mean, deviation, x, scratch);
    for (int c = 0; c < l->in.c && *count == 0; c++) {
        mean[c] = (double)running[c];
        deviation[c] = sqrt((double)running[l->in.c + c] + l->epsilon);
    }
    for (int i = 0; i < n; i++) {
        for (int c = 0; c < l->in.c; c++)
            for (int j = 0; j < l->in.h * l->in.w; j++) {
                double z = ((double)x[at(l, i, c, j)] - mean[c]) / deviation[c];
                y[at(l, i, c, j)] = (real)(z * (double)params[c] + (double)params[l->in.c + c]);
            }
        exec_poll(ex);
    }
}

static void batchnorm2d_ref_backward(const struct exec *ex, const struct layer_desc *l, int n,
                                     real *dx, real *dparams, const real *dy, const real *x,
                                     const real *y, const real *params, const void *saved,
                                     void *scratch)
{
    (void)y;
    const double *count = saved, *mean = count + 1, *deviation = mean + l->in.c;
    double *sums = scratch; /* of dy z, then of dy */
    for (int c = 0; c < 2 * l->in.c; c++)
        sums[c] = 0;
    for (int i = 0; i < n; i++)
        for (int c = 0; c < l->in.c; c++)
            for (int j = 0; j < l->in.h * l->in.w; j++) {
                double g = (double)dy[at(l, i, c, j)];
                sums[c] += g * (((double)x[at(l, i, c, j)] - mean[c]) / deviation[c]);
                sums[l->in.c + c] += g;
            }
    for (int c = 0; c < 2 * l->in.c; c++)
        dparams[c] = (real)sums[c] + (ex->accumulate ? dparams[c] : 0);
    if (dx && *count > 0)
        sum_group(ex, sums, 2 * l->in.c);
    for (int i = 0; i < n && dx; i++)
        for (int c = 0; c < l->in.c; c++)
            for (int j = 0; j < l->in.h * l->in.w; j++) {
                double z = ((double)x[at(l, i, c, j)] - mean[c]) / deviation[c];
                double g = (double)dy[at(l, i, c, j)];
                if (*count > 0)
                    g -= (sums[l->in.c + c] + z * sums[c]) / *count;
                dx[at(l, i, c, j)] =
                    counts(ex, i) ? (real)((double)params[c] / deviation[c] * g) : 0;
            }
    exec_poll(ex);
}

const struct layer_kernel layer_batchnorm2d_ref = {
    .name = "batchnorm2d_ref",
    .saved_bytes = batchnorm2d_ref_bytes,
    .scratch_bytes = batchnorm2d_ref_scratch,
    .forward = batchnorm2d_ref_forward,
    .backward = batchnorm2d_ref_backward,
};
