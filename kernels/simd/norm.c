/* The passes of batch norm over a block of channels, lanes being channels, with the layers that
 * follow: each by itself was a pass over memory. Sums are taken in `real` along a row, which is
 * short, and in double from there on. */
#include "kernels/simd/norm.h"

#include "kernels/simd/epilogue.h"

enum { HALVES = 2 }; /* vectors of a block */

struct row_sums {
    vreal first[HALVES], second[HALVES];
};

/* sums [2, BLOCK] */
static void add_row(double *sums, const struct row_sums *row)
{
    for (int half = 0; half < HALVES; half++) {
        for (int l = 0; l < VECTOR_LANES; l++) {
            sums[half * VECTOR_LANES + l] += (double)row->first[half][l];
            sums[BLOCK + half * VECTOR_LANES + l] += (double)row->second[half][l];
        }
    }
}

/* A block that comes from memory: the processor's own prefetching ends with each page of 4 KiB, and
 * begins late in the next. */
INLINE void prefetch(const real *x)
{
    enum { AHEAD = 4096 };
    for (int half = 0; half < HALVES; half++)
        __builtin_prefetch((const char *)(x + half * VECTOR_LANES) + AHEAD, 0, 3);
}

static void sum_inputs(const struct norm *n, double *sums, const real *x, const real *shift)
{
    vreal around[HALVES] = {vreal_load(shift), vreal_load(shift + VECTOR_LANES)};
    for (int r = 0; r < n->in.h; r++) {
        struct row_sums row = {.first = {{0}}};
        for (int s = 0; s < n->in.w; s++, x += BLOCK) {
#pragma GCC unroll 2
            for (int half = 0; half < HALVES; half++) {
                vreal u = vreal_load(x + half * VECTOR_LANES) - around[half];
                row.first[half] += u;
                row.second[half] += u * u;
            }
        }
        add_row(sums, &row);
    }
}

/* The patch of outputs at (row, column); what pooling drops lies in none. */
INLINE struct patch stored_patch(int size, const struct norm *n, int row, int column)
{
    return (struct patch){
        .row = row / size, .column = column / size, .h = n->stored.h, .w = n->stored.w};
}

INLINE void normalise_all(int epilogue, const struct norm *n, real *y, uint8_t *from, const real *x,
                          const real *mean, const real *scale, const real *bias)
{
    const int size = epilogue == EPILOGUE_RELU_POOL ? 2 : 1;
    for (int row = 0; row < n->stored.h * size; row += size) {
        for (int column = 0; column < n->stored.w * size; column += size) {
            const real *at = x + (row * n->in.w + column) * BLOCK;
#pragma GCC unroll 2
            for (int lane = 0; lane < BLOCK; lane += VECTOR_LANES) {
                vreal m = vreal_load(mean + lane), s = vreal_load(scale + lane),
                      b = vreal_load(bias + lane), z[4];
#pragma GCC unroll 4
                for (int i = 0; i < size * size; i++)
                    z[i] =
                        (vreal_load(at + lane + (i / size * n->in.w + i % size) * BLOCK) - m) * s +
                        b;
                store_outputs(epilogue, size, size, size, z, y + lane, from + lane,
                              stored_patch(size, n, row, column));
            }
#pragma GCC unroll 4
            for (int i = 0; i < size * size; i++)
                prefetch(at + (i / size * n->in.w + i % size) * BLOCK);
        }
    }
}

static void normalise(const struct norm *n, real *y, uint8_t *from, const real *x, const real *mean,
                      const real *scale, const real *bias)
{
    if (n->epilogue == EPILOGUE_RELU_POOL)
        normalise_all(EPILOGUE_RELU_POOL, n, y, from, x, mean, scale, bias);
    else if (n->epilogue == EPILOGUE_RELU)
        normalise_all(EPILOGUE_RELU, n, y, from, x, mean, scale, bias);
    else
        normalise_all(EPILOGUE_NONE, n, y, from, x, mean, scale, bias);
}

/* A patch's share of the sums over its row. */
INLINE void sum_patch(int epilogue, const struct norm *n, struct row_sums *sum, int half,
                      struct patch at, const real *dy, const uint8_t *from, const real *x,
                      vreal mean)
{
    const int size = epilogue == EPILOGUE_RELU_POOL ? 2 : 1;
    vreal d[4];
    load_gradients(epilogue, size, size, size, d, dy, from, at, &sum->first[half]);
#pragma GCC unroll 4
    for (int i = 0; i < size * size; i++)
        sum->second[half] +=
            d[i] * (vreal_load(x + (i / size * n->in.w + i % size) * BLOCK) - mean);
}

INLINE void sum_gradients_all(int epilogue, const struct norm *n, double *sums, const real *dy,
                              const uint8_t *from, const real *x, const real *mean)
{
    const int size = epilogue == EPILOGUE_RELU_POOL ? 2 : 1;
    vreal m[HALVES] = {vreal_load(mean), vreal_load(mean + VECTOR_LANES)};
    for (int row = 0; row < n->stored.h * size; row += size) {
        struct row_sums sum = {.first = {{0}}};
        for (int column = 0; column < n->stored.w * size; column += size) {
            const real *at = x + (row * n->in.w + column) * BLOCK;
#pragma GCC unroll 2
            for (int half = 0; half < HALVES; half++) {
                int lane = half * VECTOR_LANES;
                sum_patch(epilogue, n, &sum, half, stored_patch(size, n, row, column), dy + lane,
                          from + lane, at + lane, m[half]);
            }
#pragma GCC unroll 4
            for (int i = 0; i < size * size; i++)
                prefetch(at + (i / size * n->in.w + i % size) * BLOCK);
        }
        add_row(sums, &sum);
    }
}

static void sum_gradients(const struct norm *n, double *sums, const real *dy, const uint8_t *from,
                          const real *x, const real *mean)
{
    if (n->epilogue == EPILOGUE_RELU_POOL)
        sum_gradients_all(EPILOGUE_RELU_POOL, n, sums, dy, from, x, mean);
    else if (n->epilogue == EPILOGUE_RELU)
        sum_gradients_all(EPILOGUE_RELU, n, sums, dy, from, x, mean);
    else
        sum_gradients_all(EPILOGUE_NONE, n, sums, dy, from, x, mean);
}

/* One vector of a patch. */
INLINE void differentiate_patch(int epilogue, const struct norm *n, int row, int column, real *dx,
                                const real *dy, const uint8_t *from, const real *x,
                                const real *terms)
{
    const int size = epilogue == EPILOGUE_RELU_POOL ? 2 : 1;
    vreal mean = vreal_load(terms), of_dy = vreal_load(terms + BLOCK), unused = {0}, d[4];
    vreal of_x = vreal_load(terms + 2 * BLOCK), constant = vreal_load(terms + 3 * BLOCK);
    load_gradients(epilogue, size, size, size, d, dy, from, stored_patch(size, n, row, column),
                   &unused);
#pragma GCC unroll 4
    for (int i = 0; i < size * size; i++) {
        int r = row + i / size, c = column + i % size;
        size_t at = (size_t)(r * n->in.w + c) * BLOCK;
        if (r < n->in.h && c < n->in.w)
            vreal_store(dx + at, of_dy * d[i] + (of_x * (vreal_load(x + at) - mean) + constant));
    }
}

/* All of dx: where pooling dropped the output, dy is 0 but the batch's means are still there. */
INLINE void differentiate_all(int epilogue, const struct norm *n, real *dx, const real *dy,
                              const uint8_t *from, const real *x, const real *terms)
{
    const int size = epilogue == EPILOGUE_RELU_POOL ? 2 : 1;
    for (int row = 0; row < n->in.h; row += size) {
        for (int column = 0; column < n->in.w; column += size) {
#pragma GCC unroll 2
            for (int l = 0; l < BLOCK; l += VECTOR_LANES)
                differentiate_patch(epilogue, n, row, column, dx + l, dy + l, from + l, x + l,
                                    terms + l);
#pragma GCC unroll 4
            for (int i = 0; i < size * size; i++)
                prefetch(x + ((row + i / size) * n->in.w + column + i % size) * BLOCK);
        }
    }
}

static void differentiate(const struct norm *n, real *dx, const real *dy, const uint8_t *from,
                          const real *x, const real *terms)
{
    if (n->epilogue == EPILOGUE_RELU_POOL)
        differentiate_all(EPILOGUE_RELU_POOL, n, dx, dy, from, x, terms);
    else if (n->epilogue == EPILOGUE_RELU)
        differentiate_all(EPILOGUE_RELU, n, dx, dy, from, x, terms);
    else
        differentiate_all(EPILOGUE_NONE, n, dx, dy, from, x, terms);
}

const struct norm_functions SIMD_NAME(norm) = {
    .block = BLOCK,
    .sum_inputs = sum_inputs,
    .normalise = normalise,
    .sum_gradients = sum_gradients,
    .differentiate = differentiate,
};
