#include "kernels/simd/dense_bytes.h"

#include "kernels/simd/lanes.h"

/* Largest number of outputs computed together: enough accumulators to hide the latency of an
 * FMA. */
#define OUTPUTS 10
#define VECTORS (DENSE_BYTES_BLOCK / VECTOR_LANES)

static void fold(const struct dense_bytes *d, real *folded, real *bias, const real *params)
{
    for (size_t o = 0; o < d->outputs; o++) {
        const real *w = params + o * d->inputs;
        vreal sum = vreal_all(0);
        bias[o] = d->without_bias ? 0 : params[d->outputs * d->inputs + o];
        for (size_t i = 0; i < d->blocks * DENSE_BYTES_BLOCK; i += VECTOR_LANES) {
            size_t block = i / DENSE_BYTES_BLOCK, at = i % DENSE_BYTES_BLOCK;
            vreal weights = vreal_load_first(w + i, d->inputs > i ? d->inputs - i : 0);
            vreal_store(folded + (block * d->outputs + o) * DENSE_BYTES_BLOCK + at,
                        weights * vreal_load(d->scale + i));
            sum += weights * vreal_load(d->shift + i);
        }
        for (int lane = 0; lane < VECTOR_LANES; lane++)
            bias[o] += sum[lane];
    }
}

/* Returns the address of a block's bytes. An incomplete last block is copied to `spare` and padded
 * with zeros; `spare` is then returned. */
INLINE const uint8_t *block_bytes(const struct dense_bytes *d, const uint8_t *image, size_t block,
                                  uint8_t spare[DENSE_BYTES_BLOCK])
{
    size_t begin = block * DENSE_BYTES_BLOCK, left = d->inputs - begin;
    if (left >= DENSE_BYTES_BLOCK)
        return image + begin;
    memset(spare, 0, DENSE_BYTES_BLOCK);
    memcpy(spare, image + begin, left);
    return spare;
}

INLINE bool any_byte(const uint8_t *bytes)
{
    uint64_t halves[DENSE_BYTES_BLOCK / sizeof(uint64_t)];
    memcpy(halves, bytes, sizeof halves);
    return (halves[0] | halves[1]) != 0;
}

/* Returns the marks of n <= DENSE_BYTES_WORD blocks: bit 2b is set if block b has a nonzero byte.
 * All other bits are 0. */
INLINE uint64_t mark_blocks(const uint8_t *bytes, size_t n)
{
    uint64_t marks = 0;
    size_t b = 0;
#if defined(__AVX512F__)
    for (; b + 4 <= n; b += 4) { /* one bit per half block, set if nonzero */
        __m512i four = _mm512_loadu_si512(bytes + b * DENSE_BYTES_BLOCK);
        marks |= (uint64_t)_mm512_test_epi64_mask(four, four) << (2 * b);
    }
#endif
    for (; b < n; b++)
        marks |= (uint64_t)any_byte(bytes + b * DENSE_BYTES_BLOCK) << (2 * b);
    return (marks | marks >> 1) & 0x5555555555555555;
}

/* Marks the blocks of an image that are not all zero. An incomplete last block is always marked. */
INLINE void mark_image(const struct dense_bytes *d, const uint8_t *image, uint64_t *marks)
{
    size_t whole = d->inputs / DENSE_BYTES_BLOCK;
    for (size_t w = 0; w < d->words; w++) {
        size_t first = w * DENSE_BYTES_WORD;
        size_t n = whole - first < DENSE_BYTES_WORD ? whole - first : DENSE_BYTES_WORD;
        marks[w] = mark_blocks(image + first * DENSE_BYTES_BLOCK, n);
    }
    if (whole < d->blocks)
        marks[whole / DENSE_BYTES_WORD] |= (uint64_t)1 << (2 * (whole % DENSE_BYTES_WORD));
}

INLINE void forward_outputs(const int outputs, const struct dense_bytes *d, const uint8_t *image,
                            const uint64_t *marks, real *y, const real *folded, const real *bias)
{
    uint8_t spare[DENSE_BYTES_BLOCK];
    vreal total[OUTPUTS] = {0};
    for (size_t word = 0; word < d->words; word++)
        for (uint64_t left = marks[word]; left != 0; left &= left - 1) {
            size_t block = word * DENSE_BYTES_WORD + (size_t)__builtin_ctzll(left) / 2;
            const uint8_t *bytes = block_bytes(d, image, block, spare);
            const real *w = folded + block * d->outputs * DENSE_BYTES_BLOCK;
            WHOLE_ADDRESS(w);
            UNROLL
            for (int v = 0; v < VECTORS; v++) {
                vreal x = vreal_of_bytes(bytes + v * VECTOR_LANES);
                UNROLL
                for (int o = 0; o < outputs; o++)
                    total[o] += x * vreal_load(w + o * DENSE_BYTES_BLOCK + v * VECTOR_LANES);
            }
        }
    UNROLL
    for (int o = 0; o < outputs; o += VECTOR_LANES) {
        int count = outputs - o < VECTOR_LANES ? outputs - o : VECTOR_LANES;
        vreal sums = vreal_sums(total + o, count);
        vreal_store_first(y + o, sums + vreal_load_first(bias + o, (size_t)count), (size_t)count);
    }
}

static void forward(const struct dense_bytes *d, const uint8_t *image, real *y, uint64_t *marks,
                    const real *folded, const real *bias)
{
    mark_image(d, image, marks);
    for (size_t o = 0; o < d->outputs; o += OUTPUTS) {
        const real *weights = folded + o * DENSE_BYTES_BLOCK;
        switch (d->outputs - o < OUTPUTS ? d->outputs - o : OUTPUTS) {
            CASES_1_TO_10(forward_outputs, d, image, marks, y + o, weights, bias + o)
        }
    }
}

/* Transposes a square of bits by exchanging the off-diagonal quarters of ever smaller squares. */
static void transpose_square(uint64_t rows[DENSE_BYTES_GROUP])
{
    uint64_t low = 0xffffffff;
    for (size_t half = DENSE_BYTES_GROUP / 2; half > 0; half /= 2, low ^= low << half)
        for (size_t block = 0; block < DENSE_BYTES_GROUP; block += 2 * half)
            for (size_t i = block; i < block + half; i++) {
                uint64_t swapped = ((rows[i] >> half) ^ rows[i + half]) & low;
                rows[i + half] ^= swapped;
                rows[i] ^= swapped << half;
            }
}

static void transpose(const struct dense_bytes *d, const uint64_t *marks, size_t images,
                      uint64_t *transposed)
{
    for (size_t word = 0; word < d->words; word++, transposed += DENSE_BYTES_WORD) {
        uint64_t rows[DENSE_BYTES_GROUP] = {0};
        for (size_t i = 0; i < images; i++)
            rows[i] = marks[i * d->words + word];
        transpose_square(rows);
        for (size_t b = 0; b < DENSE_BYTES_WORD; b++)
            transposed[b] = rows[2 * b];
    }
}

/* Computes gradients of folded weights (weight times input scale). sums[o]: dy[o] times the block's
 * bytes in vector number `vector`, summed over the images marked in `transposed`. */
INLINE void sum_vector(const int outputs, const struct dense_bytes *d, size_t block, int vector,
                       const real *dy, const uint64_t *transposed, size_t groups, vreal *sums)
{
    uint8_t spare[DENSE_BYTES_BLOCK];
    vreal total[OUTPUTS] = {0};
    for (size_t group = 0; group < groups; group++) {
        uint64_t left = transposed[group * d->words * DENSE_BYTES_WORD + block];
        for (; left != 0; left &= left - 1) {
            size_t image = group * DENSE_BYTES_GROUP + (size_t)__builtin_ctzll(left);
            const real *g = dy + image * d->outputs;
            WHOLE_ADDRESS(g);
            vreal x = vreal_of_bytes(block_bytes(d, d->images[image], block, spare) +
                                     vector * VECTOR_LANES);
            UNROLL
            for (int o = 0; o < outputs; o++)
                total[o] += x * vreal_all(g[o]);
        }
    }
    UNROLL
    for (int o = 0; o < outputs; o++)
        sums[o] = total[o];
}

static void store_vector(const struct dense_bytes *d, size_t first, real *dw, const real *dbias,
                         const vreal *sums, size_t outputs, bool accumulate)
{
    vreal scale = vreal_load(d->scale + first), shift = vreal_load(d->shift + first);
    size_t count = d->inputs - first;
    for (size_t o = 0; o < outputs; o++) {
        real *to = dw + o * d->inputs + first;
        vreal before = accumulate ? vreal_load_first(to, count) : vreal_all(0);
        vreal_store_first(to, before + scale * sums[o] + shift * vreal_all(dbias[o]), count);
    }
}

static void backward(const struct dense_bytes *d, size_t block, real *dw, const real *dy,
                     const real *dbias, const uint64_t *transposed, size_t groups, bool accumulate)
{
    for (int v = 0; v < VECTORS; v++) {
        size_t first = block * DENSE_BYTES_BLOCK + (size_t)(v * VECTOR_LANES);
        if (first >= d->inputs)
            return;
        for (size_t o = 0; o < d->outputs; o += OUTPUTS) {
            size_t count = d->outputs - o < OUTPUTS ? d->outputs - o : OUTPUTS;
            vreal sums[OUTPUTS];
            switch (count) {
                CASES_1_TO_10(sum_vector, d, block, v, dy + o, transposed, groups, sums)
            }
            store_vector(d, first, dw + o * d->inputs, dbias + o, sums, count, accumulate);
        }
    }
}

const struct dense_bytes_functions SIMD_NAME(dense_bytes) = {
    .fold = fold,
    .forward = forward,
    .transpose = transpose,
    .backward = backward,
};
