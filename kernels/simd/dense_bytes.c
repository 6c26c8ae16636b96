#include "kernels/simd/dense_bytes.h"

#include "kernels/simd/lanes.h"

/* Outputs computed together: as many accumulators hide the latency of an FMA. */
#define OUTPUTS 10
#define VECTORS (DENSE_BYTES_BLOCK / VECTOR_LANES)

static void fold(const struct dense_bytes *d, real *folded, real *bias, const real *params)
{
    for (size_t o = 0; o < d->outputs; o++) {
        const real *w = params + o * d->inputs;
        vreal sum = vreal_all(0);
        bias[o] = params[d->outputs * d->inputs + o];
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

/* The bytes of a block; those of the last one are copied to `spare`, since an image may end within.
 */
INLINE const uint8_t *block_bytes(const struct dense_bytes *d, size_t image, size_t block,
                                  uint8_t spare[DENSE_BYTES_BLOCK])
{
    size_t begin = block * DENSE_BYTES_BLOCK, left = d->inputs - begin;
    const uint8_t *bytes = d->images + image * d->inputs + begin;
    if (left >= DENSE_BYTES_BLOCK)
        return bytes;
    memset(spare, 0, DENSE_BYTES_BLOCK);
    memcpy(spare, bytes, left);
    return spare;
}

INLINE bool any_byte(const uint8_t *bytes)
{
    uint64_t words[DENSE_BYTES_BLOCK / sizeof(uint64_t)];
    memcpy(words, bytes, sizeof words);
    return (words[0] | words[1]) != 0;
}

/* Writes the numbers of the blocks that are not all zero; how often that is so cannot be predicted,
 * so there is no branch. */
static size_t find_blocks(const struct dense_bytes *d, size_t image, uint32_t *found)
{
    const uint8_t *bytes = d->images + image * d->inputs;
    size_t n = 0, whole = d->inputs / DENSE_BYTES_BLOCK;
    for (size_t b = 0; b < whole; b++) {
        found[n] = (uint32_t)b;
        n += any_byte(bytes + b * DENSE_BYTES_BLOCK);
    }
    if (whole < d->blocks)
        found[n++] = (uint32_t)whole;
    return n;
}

INLINE void forward_outputs(const struct dense_bytes *d, size_t image, const uint32_t *found,
                            size_t n, real *y, const real *folded, const real *bias,
                            const int outputs)
{
    uint8_t spare[DENSE_BYTES_BLOCK];
    vreal total[OUTPUTS] = {0};
    for (size_t k = 0; k < n; k++) {
        const uint8_t *bytes = block_bytes(d, image, found[k], spare);
        const real *w = folded + found[k] * d->outputs * DENSE_BYTES_BLOCK;
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

static void forward_image(const struct dense_bytes *d, size_t image, const uint32_t *found,
                          size_t n, real *y, const real *folded, const real *bias)
{
    for (size_t o = 0; o < d->outputs; o += OUTPUTS) {
        switch (d->outputs - o) {
#define CASE(count)                                                                                \
    case count:                                                                                    \
        forward_outputs(d, image, found, n, y + o, folded + o * DENSE_BYTES_BLOCK, bias + o,       \
                        count);                                                                    \
        break;
            CASE(1)
            CASE(2)
            CASE(3)
            CASE(4) CASE(5) CASE(6) CASE(7) CASE(8) CASE(9)
#undef CASE
                default : forward_outputs(d, image, found, n, y + o, folded + o * DENSE_BYTES_BLOCK,
                                          bias + o, OUTPUTS);
        }
    }
}

static void forward(const struct dense_bytes *d, size_t begin, size_t end, real *y,
                    const real *folded, const real *bias, const struct dense_bytes_lists *lists)
{
    uint32_t found[DENSE_BYTES_BLOCKS_MAX];
    for (size_t i = begin; i < end; i++) {
        size_t n = find_blocks(d, i, found);
        for (size_t k = 0; k < n; k++) {
            size_t b = found[k];
            lists->images[b * lists->stride + lists->begin + lists->counts[b]++] = (uint32_t)i;
        }
        forward_image(d, i, found, n, y + i * d->outputs, folded, bias);
    }
}

/* sums [outputs][lanes]: of dy times the bytes of one vector, over the images of the lists. */
INLINE void sum_vector(const struct dense_bytes *d, size_t block, int vector, const real *dy,
                       const struct dense_bytes_lists *lists, int threads, vreal *sums,
                       const int outputs)
{
    uint8_t spare[DENSE_BYTES_BLOCK];
    vreal total[OUTPUTS] = {0};
    for (int t = 0; t < threads; t++) {
        const uint32_t *images = lists[t].images + block * lists[t].stride + lists[t].begin;
        for (size_t k = 0; k < lists[t].counts[block]; k++) {
            const real *g = dy + images[k] * d->outputs;
            WHOLE_ADDRESS(g);
            vreal x =
                vreal_of_bytes(block_bytes(d, images[k], block, spare) + vector * VECTOR_LANES);
            UNROLL
            for (int o = 0; o < outputs; o++)
                total[o] += x * vreal_all(g[o]);
        }
    }
    UNROLL
    for (int o = 0; o < outputs; o++)
        sums[o] = total[o];
}

/* What a vector's sums mean for the weights, as fold has it the other way round. */
static void store_vector(const struct dense_bytes *d, size_t first, real *dw, const real *dbias,
                         const vreal *sums, size_t outputs, bool accumulate)
{
    vreal scale = vreal_load(d->scale + first), shift = vreal_load(d->shift + first);
    size_t count = d->inputs - first < VECTOR_LANES ? d->inputs - first : VECTOR_LANES;
    for (size_t o = 0; o < outputs; o++) {
        real *to = dw + o * d->inputs + first;
        vreal before = accumulate ? vreal_load_first(to, count) : vreal_all(0);
        vreal_store_first(to, before + scale * sums[o] + shift * vreal_all(dbias[o]), count);
    }
}

static void backward(const struct dense_bytes *d, size_t block, real *dw, const real *dy,
                     const real *dbias, const struct dense_bytes_lists *lists, int threads,
                     bool accumulate)
{
    for (int v = 0; v < VECTORS; v++) {
        size_t first = block * DENSE_BYTES_BLOCK + (size_t)(v * VECTOR_LANES);
        if (first >= d->inputs)
            return;
        for (size_t o = 0; o < d->outputs; o += OUTPUTS) {
            size_t count = d->outputs - o < OUTPUTS ? d->outputs - o : OUTPUTS;
            vreal sums[OUTPUTS];
            switch (count) {
#define CASE(count)                                                                                \
    case count:                                                                                    \
        sum_vector(d, block, v, dy + o, lists, threads, sums, count);                              \
        break;
                CASE(1) CASE(2) CASE(3) CASE(4) CASE(5) CASE(6) CASE(7) CASE(8) CASE(9) CASE(10)
#undef CASE
            }
            store_vector(d, first, dw + o * d->inputs, dbias + o, sums, count, accumulate);
        }
    }
}

const struct dense_bytes_functions SIMD_NAME(dense_bytes) = {
    .fold = fold,
    .forward = forward,
    .backward = backward,
};
