/* Lanes are pooling windows. Each of the four outputs of a window has its own accumulator. At each
 * tap, CHANNELS output channels share four vectors of inputs. */
#include "kernels/simd/small_conv/small_conv_planes.h"
#include "kernels/simd/small_conv/small_conv_pool.h"

#if VECTOR_BYTES == 64
#define CHANNELS          5 /* output channels computed together: 20 accumulators in 32 registers */
#define CASES_OF_CHANNELS CASES_1_TO_5
#else
#define CHANNELS          2 /* output channels computed together: 8 accumulators in 16 registers */
#define CASES_OF_CHANNELS CASES_1_TO_2
#endif

static void load_bytes(real *x, const uint8_t *image, size_t n)
{
    size_t i = 0;
    for (; i + VECTOR_LANES <= n; i += VECTOR_LANES)
        vreal_store(x + i, vreal_of_bytes(image + i));
    for (; i < n; i++)
        x[i] = image[i];
}

#define BITS 64

/* Returns a number whose bit i is set if byte i of `row` is nonzero, for n bytes, 1 <= n <=
 * BITS. */
INLINE uint64_t drawn_bits(const uint8_t *row, size_t n)
{
#if defined(__AVX512BW__)
    __m512i bytes = _mm512_maskz_loadu_epi8(UINT64_MAX >> (BITS - n), row);
    return _mm512_test_epi8_mask(bytes, bytes);
#else
    uint64_t bits = 0;
    for (size_t i = 0; i < n; i++)
        bits |= (uint64_t)(row[i] != 0) << i;
    return bits;
#endif
}

/* Returns the even bits of x: bit 2 i of x becomes bit i. */
INLINE uint64_t even_bits(uint64_t x)
{
    x &= UINT64_C(0x5555555555555555);
    x = (x | x >> 1) & UINT64_C(0x3333333333333333);
    x = (x | x >> 2) & UINT64_C(0x0f0f0f0f0f0f0f0f);
    x = (x | x >> 4) & UINT64_C(0x00ff00ff00ff00ff);
    x = (x | x >> 8) & UINT64_C(0x0000ffff0000ffff);
    return (x | x >> 16) & UINT32_MAX;
}

/* Sets a bit of `nonzero` for each 2x2 pooling window that has a nonzero input; backward skips all
 * other windows. Window (i, j) reads rows 2 i to 2 i + kernel and columns 2 j to 2 j + kernel, both
 * ends included. Sets all bits if the image has more than BITS rows or columns. */
static void mark_nonzero(const struct small_conv *c, const uint8_t *image, uint16_t *nonzero)
{
    uint64_t drawn[BITS], bits = 0;
    size_t n = 0;
    if (c->in_h > BITS || c->in_w > BITS) {
        memset(nonzero, UINT8_MAX, c->vectors * sizeof *nonzero);
        return;
    }
    for (size_t channel = 0; channel < c->in_c; channel++)
        for (size_t row = 0; row < c->in_h; row++, image += c->in_w)
            drawn[row] = (channel > 0 ? drawn[row] : 0) | drawn_bits(image, c->in_w);
    for (size_t row = 0; row < c->pooled_h; row++) {
        uint64_t columns = 0, windows = 0;
        for (size_t u = 0; u <= c->kernel; u++)
            columns |= drawn[2 * row + u];
        for (size_t v = 0; v <= c->kernel; v++)
            windows |= columns >> v;
        bits |= (even_bits(windows) & ((UINT64_C(1) << c->pooled_w) - 1)) << n;
        for (n += c->pooled_w; n >= VECTOR_LANES; n -= VECTOR_LANES, bits >>= VECTOR_LANES)
            *nonzero++ = (uint16_t)(bits & ALL_LANES);
    }
    if (n > 0)
        *nonzero = (uint16_t)bits;
}

/* Adds the products of one kernel row with one channel of the image, for four outputs: upper left,
 * upper right, lower left and lower right. `above`, `below`: inputs of the upper and lower outputs.
 * The input that a right output reads at one tap is the input that the left output reads at the
 * next tap. */
INLINE void add_row(vreal acc[][PLACES], const real *above, const real *below, size_t plane,
                    const real *const *weights, const int channels, const int kernel)
{
    vreal seen[PLACES];
    seen[1] = vreal_load(above);
    seen[3] = vreal_load(below);
    UNROLL
    for (int tap = 0; tap < kernel; tap++) {
        above += plane;
        below += plane;
        seen[0] = seen[1];
        seen[2] = seen[3];
        seen[1] = vreal_load(above);
        seen[3] = vreal_load(below);
        UNROLL
        for (int o = 0; o < channels; o++) {
            vreal weight = vreal_all(weights[o][tap]);
            UNROLL
            for (int place = 0; place < PLACES; place++)
                acc[o][place] += seen[place] * weight;
        }
    }
}

/* Computes the convolution outputs of pooling windows, one window per lane, beginning with window
 * `position`. sums[o][i]: output i of each window in output channel o, bias included. */
INLINE void convolve(const struct small_conv *c, const struct small_conv_forward_work *w,
                     size_t position, const real *const *weights, const real *biases,
                     vreal sums[][PLACES], const int channels, const int kernel)
{
    size_t half = (size_t)(kernel + 1) * c->plane;
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
    for (size_t channel = 0; channel < c->in_c; channel++, x += 2 * half) {
        const real *above = x, *below = x + half;
        for (int row = 0; row < kernel; row++) {
            add_row(acc, above, below, c->plane, from, channels, kernel);
            UNROLL
            for (int o = 0; o < channels; o++)
                from[o] += kernel;
            const real *next = above + c->pooled_w;
            above = below;
            below = next;
        }
    }
    UNROLL
    for (int o = 0; o < channels; o++)
        UNROLL
    for (int place = 0; place < PLACES; place++)
        sums[o][place] = acc[o][place];
}

/* Pools the outputs of some channels. Not inlined, because inlined code would take registers from
 * the accumulators of the caller. */
static __attribute__((noinline)) void pool(const struct small_conv *c,
                                           const struct small_conv_output *out,
                                           const uint16_t *kept, size_t position,
                                           const vreal sums[][PLACES], int channels)
{
    struct windows w = windows_at(c, out, position);
    for (int o = 0; o < channels; o++)
        pool_channel(&w, kept[o], sums[o]);
}

INLINE void channels_forward(const int channels, const int kernel, const struct small_conv *c,
                             const struct small_conv_forward_work *w, const real *weights,
                             const real *bias, const struct small_conv_output *out,
                             const uint16_t *kept)
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
        convolve(c, w, position, from, biases, sums, channels, kernel);
        pool(c, out, kept, position, sums, channels);
    }
}

INLINE void forward_kernel(const int kernel, const struct small_conv *c,
                           const struct small_conv_forward_work *w, const real *weights,
                           const real *bias, const struct small_conv_output *out)
{
    size_t groups = (out->n_kept + CHANNELS - 1) / CHANNELS;
    cut_planes(c, w, kernel);
    for (size_t group = 0, first = 0, last; group < groups; group++, first = last) {
        last = out->n_kept * (group + 1) / groups;
        switch (last - first) {
            CASES_OF_CHANNELS(channels_forward, kernel, c, w, weights, bias, out, out->kept + first)
        }
    }
}

static void forward(const struct small_conv *c, const struct small_conv_forward_work *w,
                    const real *weights, const real *bias, const struct small_conv_output *out)
{
    switch (c->kernel) {
        CASES_2_TO_7(forward_kernel, c, w, weights, bias, out)
    }
}

const struct small_conv_forward_functions SIMD_NAME(small_conv_forward) = {
    .lanes = VECTOR_LANES,
    .load_bytes = load_bytes,
    .mark_nonzero = mark_nonzero,
    .forward = forward,
};
