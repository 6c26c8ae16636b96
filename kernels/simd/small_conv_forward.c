/* Lanes are pooled positions, each of the four places in a pooling window has an accumulator of its
 * own: the maximum is then one of four registers. For that the image is cut into planes that hold
 * every second row and every second column from v on, without gaps, so that 16 neighbouring
 * positions are 16 numbers in a row even where a row is short. A tap reads four such vectors for 5
 * channels: 20 FMAs. */
#include "kernels/simd/lanes.h"
#include "kernels/simd/small_conv.h"

#define PLACES 4 /* in a pooling window */
#if VECTOR_BYTES == 64
#define CHANNELS 5 /* computed together: 20 accumulators of 32 registers */
#else
#define CHANNELS 2 /* 8 of 16 */
#endif

static void load_bytes(real *x, const uint8_t *image, size_t n)
{
    size_t i = 0;
    for (; i + VECTOR_LANES <= n; i += VECTOR_LANES)
        vreal_store(x + i, vreal_of_bytes(image + i));
    for (; i < n; i++)
        x[i] = image[i];
}

/* Four numbers, for maps that are narrow. */
typedef real vquad __attribute__((vector_size(4 * sizeof(real))));
typedef lane_int vquad_lane __attribute__((vector_size(4 * sizeof(real))));

/* rows of to[j] = from[2 j], `width` numbers and a few more, one row after the other: what one
 * writes too much the next one overwrites. */
INLINE void cut_rows(real *to, const real *from, size_t rows, size_t width, size_t step,
                     const bool narrow)
{
    for (size_t row = 0; row < rows; row++, to += width, from += step) {
        if (narrow) {
            vquad a, b, even;
            memcpy(&a, from, sizeof a);
            memcpy(&b, from + 4, sizeof b);
            even = __builtin_shuffle(a, b, (vquad_lane){0, 2, 4, 6});
            memcpy(to, &even, sizeof even);
            continue;
        }
        for (size_t j = 0; j < width; j += VECTOR_LANES)
            vreal_store(to + j, vreal_even(vreal_load(from + 2 * j),
                                           vreal_load(from + 2 * j + VECTOR_LANES)));
    }
}

static void cut_planes(const struct small_conv *c, const struct small_conv_forward_work *w)
{
    size_t columns = c->kernel + 1, width = c->pooled_w, step = 2 * c->in_w;
    real *to = w->planes;
    for (size_t channel = 0; channel < c->in_c; channel++)
        for (size_t u = 0; u < 2; u++) {
            size_t rows = c->pooled_h + c->kernel / 2, there = (c->in_h - u + 1) / 2;
            const real *x = w->x + (channel * c->in_h + u) * c->in_w;
            rows = rows < there ? rows : there;
            for (size_t v = 0; v < columns; v++, to += c->plane) {
                if (width <= 4)
                    cut_rows(to, x + v, rows, width, step, true);
                else
                    cut_rows(to, x + v, rows, width, step, false);
            }
        }
}

static void prepare(const struct small_conv *c, size_t *offsets, uint16_t *starts)
{
    size_t columns = c->kernel + 1;
    for (size_t p = 0; p < c->pooled_h * c->pooled_w; p++)
        starts[p] = (uint16_t)(p / c->pooled_w * 2 * c->in_w + p % c->pooled_w * 2);
    for (size_t tap = 0; tap < c->kernel * c->kernel; tap++)
        for (size_t place = 0; place < PLACES; place++) {
            size_t u = tap / c->kernel + place / 2, v = tap % c->kernel + place % 2;
            offsets[tap * PLACES + place] = (u % 2 * columns + v) * c->plane + u / 2 * c->pooled_w;
        }
}

/* Sums of one vector of positions for each channel and place, and the channels' biases. */
INLINE void convolve(const struct small_conv *c, const struct small_conv_forward_work *w,
                     size_t position, const real *const *weights, const real *biases,
                     vreal sums[][PLACES], const int channels)
{
    size_t taps = c->kernel * c->kernel, image = 2 * (c->kernel + 1) * c->plane;
    const real *x = w->planes + position;
    const real *from[CHANNELS];
    vreal acc[CHANNELS][PLACES];
    UNROLL
    for (int o = 0; o < channels; o++) {
        from[o] = weights[o];
        UNROLL
        for (int place = 0; place < PLACES; place++)
            acc[o][place] = vreal_all(biases[o]);
    }
    for (size_t channel = 0; channel < c->in_c; channel++, x += image) {
        for (size_t tap = 0; tap < taps; tap++) {
            vreal seen[PLACES];
            UNROLL
            for (int place = 0; place < PLACES; place++)
                seen[place] = vreal_load(x + w->offsets[tap * PLACES + (size_t)place]);
            UNROLL
            for (int o = 0; o < channels; o++) {
                vreal weight = vreal_all(from[o][tap]);
                UNROLL
                for (int place = 0; place < PLACES; place++)
                    acc[o][place] += seen[place] * weight;
            }
        }
        UNROLL
        for (int o = 0; o < channels; o++)
            from[o] += taps;
    }
    UNROLL
    for (int o = 0; o < channels; o++)
        UNROLL
    for (int place = 0; place < PLACES; place++)
        sums[o][place] = acc[o][place];
}

/* The larger of a and b and its place; of equal values a. NaN wins, and stays. */
INLINE void take_larger(vreal *a, vint *at, vreal b, vint at_b)
{
    vint more = vreal_exceeds(b, *a);
    *a = vreal_choose(more, b, *a);
    *at = vint_choose(more, at_b, *at);
}

/* Of equal values the first counts. Not inlined: what it needs in registers would push accumulators
 * out of them. */
static __attribute__((noinline)) void pool(const struct small_conv *c,
                                           const struct small_conv_forward_work *w,
                                           const struct small_conv_output *out, size_t channel,
                                           size_t position, const vreal sums[PLACES])
{
    lane_int row = (lane_int)c->in_w;
    size_t count = c->pooled_h * c->pooled_w;
    vreal best = sums[0], low = sums[2];
    vint at = {0}, at_low = (vint){0} + row;
    take_larger(&best, &at, sums[1], (vint){0} + 1);
    take_larger(&low, &at_low, sums[3], (vint){0} + (row + 1));
    take_larger(&best, &at, low, at_low);
    best *= out->scale; /* above 0: it changes nothing in their order */
    if (c->relu)
        best = vreal_choose(best < 0, vreal_all(0), best);
    vreal_store_first(out->y + channel * count + position, best, count - position);
    vint_store_short(out->where + channel * c->positions + position, at, w->starts + position);
}

INLINE void channels_forward(const struct small_conv *c, const struct small_conv_forward_work *w,
                             const real *weights, const real *bias,
                             const struct small_conv_output *out, const uint16_t *kept,
                             const int channels)
{
    size_t count = c->pooled_h * c->pooled_w, taps = c->in_c * c->kernel * c->kernel;
    const real *from[CHANNELS];
    real biases[CHANNELS];
    for (int o = 0; o < channels; o++) {
        from[o] = weights + kept[o] * taps;
        biases[o] = bias[kept[o]];
    }
    for (size_t position = 0; position < count; position += VECTOR_LANES) {
        vreal sums[CHANNELS][PLACES];
        convolve(c, w, position, from, biases, sums, channels);
        for (int o = 0; o < channels; o++)
            pool(c, w, out, kept[o], position, sums[o]);
    }
}

static void forward(const struct small_conv *c, const struct small_conv_forward_work *w,
                    const real *weights, const real *bias, const struct small_conv_output *out)
{
    cut_planes(c, w);
    size_t groups = (out->n_kept + CHANNELS - 1) / CHANNELS;
    for (size_t group = 0, first = 0, last; group < groups; group++, first = last) {
        last = out->n_kept * (group + 1) / groups;
        switch (last - first) {
#define CASE(channels)                                                                             \
    case channels:                                                                                 \
        channels_forward(c, w, weights, bias, out, out->kept + first, channels);                   \
        break
            CASE(1);
            CASE(2);
#if CHANNELS == 5
            CASE(3);
            CASE(4);
            CASE(5);
#endif
#undef CASE
        }
    }
}

const struct small_conv_forward_functions SIMD_NAME(small_conv_forward) = {
    .prepare = prepare,
    .load_bytes = load_bytes,
    .forward = forward,
};
