/* Winograd's F(2, 5) along rows (Lavin and Gray, Fast Algorithms for Convolutional Neural Networks,
 * 2016). For 5 taps, the two outputs in a row of a pooling window take 6 products instead of 10.
 * Their six inputs and the weights are transformed with the interpolation points 0, 1, -1, 2, -2
 * and infinity. Only sums over kernel rows and channels are transformed back. Transforming columns
 * too would cost as much as it saves and add rounding errors.
 *
 * An output whose inputs are all zero is exactly its bias: each output depends on five of the six
 * inputs in a row, and its products do not involve the sixth.
 *
 * Lanes are pooling windows. One or two points at a time are summed for as many channels as
 * registers allow. Summing all points for few channels would be bounded by loads. */
#include "kernels/simd/small_conv/small_conv_planes.h"
#include "kernels/simd/small_conv/small_conv_pool.h"

#define KERNEL 5
#define POINTS SMALL_CONV_POINTS
#define ROWS   2 /* rows of convolution outputs in a pooling window */
#if VECTOR_BYTES == 64
#define CHANNELS 6 /* output channels computed together */
#define TOGETHER 2 /* Winograd points at a time: CHANNELS * ROWS * 2 sums fit in 32 registers */
#else
#define CHANNELS 5
#define TOGETHER 1 /* Winograd points at a time: CHANNELS * ROWS sums fit in 16 registers */
#endif

static void transform_weights(real *to, const real *row, size_t rows)
{
    for (size_t i = 0; i < rows; i++, row += KERNEL, to += POINTS) {
        real even = row[0] + row[2] + row[4], odd = row[1] + row[3];
        real even_at_2 = row[0] + 4 * row[2] + 16 * row[4], odd_at_2 = 2 * row[1] + 8 * row[3];
        to[0] = row[0] / 4;
        to[1] = (even + odd) / -6;
        to[2] = (even - odd) / -6;
        to[3] = (even_at_2 + odd_at_2) / 24;
        to[4] = (even_at_2 - odd_at_2) / 24;
        to[5] = row[4];
    }
}

INLINE void transform_vectors(vreal x[POINTS])
{
    vreal even = x[4] - 4 * x[2], odd = x[3] - 4 * x[1];
    vreal even_at_2 = x[4] - x[2], odd_at_2 = 2 * (x[3] - x[1]);
    x[0] = 4 * x[0] - 5 * x[2] + x[4];
    x[5] = 4 * x[1] - 5 * x[3] + x[5];
    x[1] = even + odd;
    x[2] = even - odd;
    x[3] = even_at_2 + odd_at_2;
    x[4] = even_at_2 - odd_at_2;
}

INLINE void transform_planes(const struct small_conv *c, real *planes)
{
    size_t end = c->positions + KERNEL / 2 * c->pooled_w;
    for (size_t half = 0; half < 2 * c->in_c; half++, planes += POINTS * c->plane)
        for (real *at = planes; at < planes + end; at += VECTOR_LANES) {
            vreal x[POINTS];
            UNROLL
            for (size_t v = 0; v < POINTS; v++)
                x[v] = vreal_load(at + v * c->plane);
            transform_vectors(x);
            UNROLL
            for (size_t v = 0; v < POINTS; v++)
                vreal_store(at + v * c->plane, x[v]);
        }
}

#ifdef LANES_HAS_QUADS
/* Computes the Winograd points of four rows of the image. If `split` is not NULL, the points of the
 * last two rows are also stored in `split`. */
INLINE void cut_four_points(const struct small_conv *c, real *to, real *split,
                            const real *const rows[4])
{
    vreal x[POINTS];
    cut_four_rows(x, rows, KERNEL);
    transform_vectors(x);
    UNROLL
    for (size_t v = 0; v < POINTS; v++) {
        vreal_store(to + v * c->plane, x[v]);
        if (split)
            vreal_store_upper(split + v * c->plane, x[v]);
    }
}

/* Computes the Winograd points of an image with 4 x 4 pooled outputs. Only the first 12 rows of the
 * image matter; they are transformed without being stored as planes first. The last two even and
 * the last two odd rows share a call of cut_four_points. */
static void cut_points_of_12_rows(const struct small_conv *c,
                                  const struct small_conv_forward_work *w)
{
    const size_t half = POINTS * c->plane, row = c->in_w;
    real *even = w->planes, *odd = even + half;
    const real *x = w->x;
    for (size_t channel = 0; channel < c->in_c; channel++, even += 2 * half, odd += 2 * half) {
        cut_four_points(c, even, NULL, (const real *[]){x, x + 2 * row, x + 4 * row, x + 6 * row});
        cut_four_points(c, odd, NULL,
                        (const real *[]){x + row, x + 3 * row, x + 5 * row, x + 7 * row});
        cut_four_points(c, even + VECTOR_LANES, odd + VECTOR_LANES,
                        (const real *[]){x + 8 * row, x + 10 * row, x + 9 * row, x + 11 * row});
        x += c->in_h * row;
    }
}
#endif

/* Computes the Winograd points of the image and stores them in w->planes. Unless
 * cut_points_of_12_rows applies, first stores the image's planes there, then transforms them in
 * place. */
static void cut_points(const struct small_conv *c, const struct small_conv_forward_work *w)
{
#ifdef LANES_HAS_QUADS
    if (c->pooled_w == 4 && c->pooled_h == 4) {
        cut_points_of_12_rows(c, w);
        return;
    }
#endif
    cut_planes(c, w, KERNEL);
    transform_planes(c, w->planes);
}

/* Sums the products at TOGETHER points from `first` on, over all kernel rows and input channels,
 * for an upper and a lower row of outputs. The lower outputs' input row at one kernel row is the
 * upper outputs' input row at the next. */
INLINE void add_points(const struct small_conv *c, const real *planes, const real *const *weights,
                       vreal sums[][ROWS][POINTS], int first, const int channels)
{
    size_t plane = c->plane, half = POINTS * plane;
    vreal acc[CHANNELS][ROWS][TOGETHER] = {0};
    planes += (size_t)first * plane;
    for (size_t at = (size_t)first, channel = 0; channel < c->in_c; channel++, planes += 2 * half) {
        vreal seen[TOGETHER];
        const real *below = planes + half, *above = planes + c->pooled_w;
        UNROLL
        for (size_t i = 0; i < TOGETHER; i++)
            seen[i] = vreal_load(planes + i * plane);
        for (int row = 0; row < KERNEL; row++, at += POINTS) {
            UNROLL
            for (size_t i = 0; i < TOGETHER; i++) {
                vreal next = vreal_load(below + i * plane);
                VECTOR_IN_REGISTER(next);
                UNROLL
                for (int o = 0; o < channels; o++) {
                    vreal weight = vreal_all(weights[o][at + i]);
                    acc[o][0][i] += seen[i] * weight;
                    acc[o][1][i] += next * weight;
                }
                seen[i] = next;
            }
            const real *next = below + c->pooled_w;
            below = above;
            above = next;
        }
    }
    UNROLL
    for (int o = 0; o < channels; o++)
        UNROLL
    for (int row = 0; row < ROWS; row++)
        UNROLL
    for (int i = 0; i < TOGETHER; i++)
        sums[o][row][first + i] = acc[o][row][i];
}

/* Defines add_points for a constant number of output channels. The function is not inlined, because
 * variables of the caller would occupy registers that the sums need. */
#define FOR_CHANNELS(channels)                                                                     \
    static __attribute__((noinline)) void add_points_##channels(                                   \
        const struct small_conv *c, const real *planes, const real *const *weights,                \
        vreal sums[][ROWS][POINTS], int first)                                                     \
    {                                                                                              \
        add_points(c, planes, weights, sums, first, channels);                                     \
    }
FOR_CHANNELS(1)
FOR_CHANNELS(2)
FOR_CHANNELS(3)
FOR_CHANNELS(4)
FOR_CHANNELS(5)
#if CHANNELS == 6
FOR_CHANNELS(6)
#endif

typedef void points_adder(const struct small_conv *c, const real *planes,
                          const real *const *weights, vreal sums[][ROWS][POINTS], int first);

/* Variants of add_points, indexed by the number of output channels. */
static points_adder *const point_adders[CHANNELS + 1] = {
    NULL,         add_points_1, add_points_2, add_points_3, add_points_4, add_points_5,
#if CHANNELS == 6
    add_points_6,
#endif
};

/* Transforms the sums at all points back to the two outputs in one row of a window, and adds the
 * bias. */
INLINE void transform_sums_back(vreal pair[2], const vreal points[POINTS], real bias)
{
    vreal even = points[1] + points[2], odd = points[1] - points[2];
    vreal even_at_2 = points[3] + points[4], odd_at_2 = points[3] - points[4];
    pair[0] = points[0] + even + even_at_2 + bias;
    pair[1] = odd + 2 * odd_at_2 + points[5] + bias;
}

static void channels_forward(const struct small_conv *c, const struct small_conv_forward_work *w,
                             const real *weights, const real *bias,
                             const struct small_conv_output *out, const uint16_t *kept,
                             size_t channels)
{
    size_t count = c->pooled_h * c->pooled_w, stride = c->in_c * KERNEL * POINTS;
    const real *from[CHANNELS];
    for (size_t o = 0; o < channels; o++)
        from[o] = weights + kept[o] * stride;
    for (size_t position = 0; position < count; position += VECTOR_LANES) {
        vreal points[CHANNELS][ROWS][POINTS];
        struct windows windows = windows_at(c, out, position);
        for (int first = 0; first < POINTS; first += TOGETHER)
            point_adders[channels](c, w->planes + position, from, points, first);
        for (size_t o = 0; o < channels; o++) {
            vreal sums[PLACES];
            transform_sums_back(sums, points[o][0], bias[kept[o]]);
            transform_sums_back(sums + 2, points[o][1], bias[kept[o]]);
            pool_channel(&windows, kept[o], sums);
        }
    }
}

static void forward(const struct small_conv *c, const struct small_conv_forward_work *w,
                    const real *weights, const real *bias, const struct small_conv_output *out)
{
    size_t groups = (out->n_kept + CHANNELS - 1) / CHANNELS;
    cut_points(c, w);
    for (size_t group = 0, first = 0, last; group < groups; group++, first = last) {
        last = out->n_kept * (group + 1) / groups;
        channels_forward(c, w, weights, bias, out, out->kept + first, last - first);
    }
}

const struct small_conv_winograd_functions SIMD_NAME(small_conv_winograd) = {
    .transform_weights = transform_weights,
    .forward = forward,
};
