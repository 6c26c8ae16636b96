/* Batch norm on one block of channels, fused with ReLU and pooling to save passes over memory.
 * Lanes are channels. Sums along a row, which is short, are in `real`; sums over rows are in
 * double. */
#include "kernels/simd/norm.h"

#include "kernels/simd/epilogue.h"

enum { HALVES = 2 }; /* number of vectors per block */

struct row_sums {
    vreal first[HALVES], second[HALVES];
};

/* Adds the sums of one row to `sums` [2, BLOCK]. */
static void add_row(double *sums, const struct row_sums *row)
{
    for (int half = 0; half < HALVES; half++) {
        for (int l = 0; l < VECTOR_LANES; l++) {
            sums[half * VECTOR_LANES + l] += (double)row->first[half][l];
            sums[BLOCK + half * VECTOR_LANES + l] += (double)row->second[half][l];
        }
    }
}

/* Prefetches the memory 4 KiB after position `at` of x: the processor's own prefetching stops at
 * each 4 KiB page and restarts late. */
INLINE void prefetch(enum precision precision, const real *x, size_t at)
{
    enum { AHEAD = 4096 };
    for (size_t lane = 0; lane < BLOCK; lane += precision_per_real(precision) * VECTOR_LANES)
        __builtin_prefetch((const char *)value_at(precision, x, at + lane) + AHEAD, 0, 3);
}

static void first_inputs(const struct norm *n, real *to, const real *x)
{
    for (size_t lane = 0; lane < BLOCK; lane += VECTOR_LANES)
        vreal_store(to + lane, value_load(n->x_precision, x, lane));
}

/* Returns the offset in x of input i, 0 to size^2 - 1, of the size x size patch whose top left
 * input is at (row, column). */
INLINE size_t position(const struct norm *n, int size, int row, int column, int i)
{
    return (size_t)((row + i / size) * n->in.w + column + i % size) * BLOCK;
}

INLINE void sum_inputs_of(enum precision precision, const struct norm *n, double *sums,
                          const real *x, const real *shift)
{
    vreal around[HALVES] = {vreal_load(shift), vreal_load(shift + VECTOR_LANES)};
    size_t at = 0;
    for (int r = 0; r < n->in.h; r++) {
        struct row_sums row = {.first = {{0}}};
        for (int s = 0; s < n->in.w; s++, at += BLOCK) {
#pragma GCC unroll 2
            for (size_t half = 0; half < HALVES; half++) {
                vreal u = value_load(precision, x, at + half * VECTOR_LANES) - around[half];
                row.first[half] += u;
                row.second[half] += u * u;
            }
        }
        add_row(sums, &row);
    }
}

BY_PRECISION(sum_inputs, n->x_precision, sum_inputs_of,
             (const struct norm *n, double *sums, const real *x, const real *shift), n, sums, x,
             shift)

/* Returns the row and column in y of one output, which is computed from the input patch of size x
 * size at (row, column). */
INLINE struct patch stored_patch(int size, const struct norm *n, int row, int column)
{
    return (struct patch){
        .row = row / size, .column = column / size, .h = n->stored.h, .w = n->stored.w};
}

INLINE void normalise_all(int epilogue, enum precision precision, enum precision y_precision,
                          const struct norm *n, real *y, uint8_t *from, const real *x,
                          const real *mean, const real *scale, const real *bias)
{
    const int size = epilogue == EPILOGUE_RELU_POOL ? 2 : 1;
    for (int row = 0; row < n->stored.h * size; row += size) {
        for (int column = 0; column < n->stored.w * size; column += size) {
#pragma GCC unroll 2
            for (size_t lane = 0; lane < BLOCK; lane += VECTOR_LANES) {
                vreal m = vreal_load(mean + lane), s = vreal_load(scale + lane),
                      b = vreal_load(bias + lane), z[4];
#pragma GCC unroll 4
                for (int i = 0; i < size * size; i++)
                    z[i] =
                        (value_load(precision, x, position(n, size, row, column, i) + lane) - m) *
                            s +
                        b;
                store_outputs(epilogue, y_precision, size, size, size, z,
                              value_at(y_precision, y, lane), from + lane,
                              stored_patch(size, n, row, column));
            }
#pragma GCC unroll 4
            for (int i = 0; i < size * size; i++)
                prefetch(precision, x, position(n, size, row, column, i));
        }
    }
}

INLINE void normalise_to(enum precision precision, enum precision y_precision, const struct norm *n,
                         real *y, uint8_t *from, const real *x, const real *mean, const real *scale,
                         const real *bias)
{
    if (n->epilogue == EPILOGUE_RELU_POOL)
        normalise_all(EPILOGUE_RELU_POOL, precision, y_precision, n, y, from, x, mean, scale, bias);
    else if (n->epilogue == EPILOGUE_RELU)
        normalise_all(EPILOGUE_RELU, precision, y_precision, n, y, from, x, mean, scale, bias);
    else
        normalise_all(EPILOGUE_NONE, precision, y_precision, n, y, from, x, mean, scale, bias);
}

/* Normalises x, whose type is the constant `precision`. The type of y is either `precision` or
 * fp32. */
INLINE void normalise_of(enum precision precision, const struct norm *n, real *y, uint8_t *from,
                         const real *x, const real *mean, const real *scale, const real *bias)
{
    if (precision != PRECISION_fp32 && n->y_precision == precision)
        normalise_to(precision, precision, n, y, from, x, mean, scale, bias);
    else
        normalise_to(precision, PRECISION_fp32, n, y, from, x, mean, scale, bias);
}

BY_PRECISION(normalise, n->x_precision, normalise_of,
             (const struct norm *n, real *y, uint8_t *from, const real *x, const real *mean,
              const real *scale, const real *bias),
             n, y, from, x, mean, scale, bias)

/* Adds d and d * (x - mean) of one patch (a 2x2 pooling window, or one position without pooling) to
 * the sums of a row of patches. d is the gradient of batch norm's output. */
INLINE void sum_patch(int epilogue, enum precision precision, const struct norm *n,
                      struct row_sums *sum, size_t half, int row, int column, const real *dy,
                      const uint8_t *from, const real *x, vreal mean)
{
    const int size = epilogue == EPILOGUE_RELU_POOL ? 2 : 1;
    const size_t lane = half * VECTOR_LANES;
    vreal d[4];
    load_gradients(epilogue, size, size, size, d, dy + lane, from + lane,
                   stored_patch(size, n, row, column), &sum->first[half]);
#pragma GCC unroll 4
    for (int i = 0; i < size * size; i++)
        sum->second[half] +=
            d[i] * (value_load(precision, x, position(n, size, row, column, i) + lane) - mean);
}

INLINE void sum_gradients_all(int epilogue, enum precision precision, const struct norm *n,
                              double *sums, const real *dy, const uint8_t *from, const real *x,
                              const real *mean)
{
    const int size = epilogue == EPILOGUE_RELU_POOL ? 2 : 1;
    vreal m[HALVES] = {vreal_load(mean), vreal_load(mean + VECTOR_LANES)};
    for (int row = 0; row < n->stored.h * size; row += size) {
        struct row_sums sum = {.first = {{0}}};
        for (int column = 0; column < n->stored.w * size; column += size) {
#pragma GCC unroll 2
            for (size_t half = 0; half < HALVES; half++)
                sum_patch(epilogue, precision, n, &sum, half, row, column, dy, from, x, m[half]);
#pragma GCC unroll 4
            for (int i = 0; i < size * size; i++)
                prefetch(precision, x, position(n, size, row, column, i));
        }
        add_row(sums, &sum);
    }
}

INLINE void sum_gradients_of(enum precision precision, const struct norm *n, double *sums,
                             const real *dy, const uint8_t *from, const real *x, const real *mean)
{
    if (n->epilogue == EPILOGUE_RELU_POOL)
        sum_gradients_all(EPILOGUE_RELU_POOL, precision, n, sums, dy, from, x, mean);
    else if (n->epilogue == EPILOGUE_RELU)
        sum_gradients_all(EPILOGUE_RELU, precision, n, sums, dy, from, x, mean);
    else
        sum_gradients_all(EPILOGUE_NONE, precision, n, sums, dy, from, x, mean);
}

BY_PRECISION(sum_gradients, n->x_precision, sum_gradients_of,
             (const struct norm *n, double *sums, const real *dy, const uint8_t *from,
              const real *x, const real *mean),
             n, sums, dy, from, x, mean)

/* Computes dx of one patch, for the vector of channels that begins at `lane`. */
INLINE void differentiate_patch(int epilogue, enum precision precision, const struct norm *n,
                                int row, int column, size_t lane, real *dx, const real *dy,
                                const uint8_t *from, const real *x, const real *terms)
{
    const int size = epilogue == EPILOGUE_RELU_POOL ? 2 : 1;
    terms += lane;
    vreal mean = vreal_load(terms), of_dy = vreal_load(terms + BLOCK), unused = {0}, d[4];
    vreal of_x = vreal_load(terms + 2 * BLOCK), constant = vreal_load(terms + 3 * BLOCK);
    load_gradients(epilogue, size, size, size, d, dy + lane, from + lane,
                   stored_patch(size, n, row, column), &unused);
#pragma GCC unroll 4
    for (int i = 0; i < size * size; i++) {
        size_t at = position(n, size, row, column, i) + lane;
        if (row + i / size < n->in.h && column + i % size < n->in.w)
            vreal_store(dx + at,
                        of_dy * d[i] + (of_x * (value_load(precision, x, at) - mean) + constant));
    }
}

/* Computes dx at all positions, also at positions that pooling drops. There the gradient of batch
 * norm's output is 0, but dx is not 0, because the batch's mean and variance depend on x. */
INLINE void differentiate_all(int epilogue, enum precision precision, const struct norm *n,
                              real *dx, const real *dy, const uint8_t *from, const real *x,
                              const real *terms)
{
    const int size = epilogue == EPILOGUE_RELU_POOL ? 2 : 1;
    for (int row = 0; row < n->in.h; row += size) {
        for (int column = 0; column < n->in.w; column += size) {
#pragma GCC unroll 2
            for (size_t lane = 0; lane < BLOCK; lane += VECTOR_LANES)
                differentiate_patch(epilogue, precision, n, row, column, lane, dx, dy, from, x,
                                    terms);
#pragma GCC unroll 4
            for (int i = 0; i < size * size; i++)
                prefetch(precision, x, position(n, size, row, column, i));
        }
    }
}

INLINE void differentiate_of(enum precision precision, const struct norm *n, real *dx,
                             const real *dy, const uint8_t *from, const real *x, const real *terms)
{
    if (n->epilogue == EPILOGUE_RELU_POOL)
        differentiate_all(EPILOGUE_RELU_POOL, precision, n, dx, dy, from, x, terms);
    else if (n->epilogue == EPILOGUE_RELU)
        differentiate_all(EPILOGUE_RELU, precision, n, dx, dy, from, x, terms);
    else
        differentiate_all(EPILOGUE_NONE, precision, n, dx, dy, from, x, terms);
}

BY_PRECISION(differentiate, n->x_precision, differentiate_of,
             (const struct norm *n, real *dx, const real *dy, const uint8_t *from, const real *x,
              const real *terms),
             n, dx, dy, from, x, terms)

const struct norm_functions SIMD_NAME(norm) = {
    .block = BLOCK,
    .first_inputs = first_inputs,
    .sum_inputs = sum_inputs,
    .normalise = normalise,
    .sum_gradients = sum_gradients,
    .differentiate = differentiate,
};
