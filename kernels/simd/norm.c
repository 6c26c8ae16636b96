/* The passes of batch norm over a block of channels, lanes being channels, with the layers that
 * follow: each by itself was a pass over memory. Sums are taken in `real` along a row, which is
 * short, and in double from there on. */
#include "kernels/simd/norm.h"

#include "kernels/simd/epilogue.h"

struct row_sums {
    vreal first, second;
};

/* sums [2, BLOCK], lanes from `lane` on */
static void add_row(double *sums, int lane, struct row_sums row)
{
    for (int l = 0; l < VECTOR_LANES; l++) {
        sums[lane + l] += (double)row.first[l];
        sums[BLOCK + lane + l] += (double)row.second[l];
    }
}

static void sum_inputs(const struct norm *n, double *sums, const real *x, const real *shift)
{
    for (int lane = 0; lane < BLOCK; lane += VECTOR_LANES) {
        vreal around = vreal_load(shift + lane);
        const real *at = x + lane;
        for (int r = 0; r < n->in.h; r++) {
            struct row_sums row = {0};
            for (int s = 0; s < n->in.w; s++, at += BLOCK) {
                vreal u = vreal_load(at) - around;
                row.first += u;
                row.second += u * u;
            }
            add_row(sums, lane, row);
        }
    }
}

/* The window of outputs at (row, column); what pooling drops lies in none. */
INLINE struct window stored_window(int size, const struct norm *n, int row, int column)
{
    return (struct window){
        .row = row / size, .column = column / size, .h = n->stored.h, .w = n->stored.w};
}

INLINE void normalise_all(int epilogue, const struct norm *n, real *y, uint8_t *from, const real *x,
                          vreal mean, vreal scale, vreal bias)
{
    const int size = epilogue == EPILOGUE_RELU_POOL ? 2 : 1;
    for (int row = 0; row < n->stored.h * size; row += size) {
        for (int column = 0; column < n->stored.w * size; column += size) {
            const real *at = x + (row * n->in.w + column) * BLOCK;
            vreal z[4];
            for (int i = 0; i < size * size; i++)
                z[i] = (vreal_load(at + (i / size * n->in.w + i % size) * BLOCK) - mean) * scale +
                       bias;
            store_outputs(epilogue, size, size, size, z, y, from,
                          stored_window(size, n, row, column));
        }
    }
}

static void normalise(const struct norm *n, real *y, uint8_t *from, const real *x, const real *mean,
                      const real *scale, const real *bias)
{
    for (int lane = 0; lane < BLOCK; lane += VECTOR_LANES) {
        vreal m = vreal_load(mean + lane), s = vreal_load(scale + lane),
              b = vreal_load(bias + lane);
        if (n->epilogue == EPILOGUE_RELU_POOL)
            normalise_all(EPILOGUE_RELU_POOL, n, y + lane, from + lane, x + lane, m, s, b);
        else if (n->epilogue == EPILOGUE_RELU)
            normalise_all(EPILOGUE_RELU, n, y + lane, from + lane, x + lane, m, s, b);
        else
            normalise_all(EPILOGUE_NONE, n, y + lane, from + lane, x + lane, m, s, b);
    }
}

INLINE void sum_gradients_all(int epilogue, const struct norm *n, double *sums, int lane,
                              const real *dy, const uint8_t *from, const real *x, vreal mean)
{
    const int size = epilogue == EPILOGUE_RELU_POOL ? 2 : 1;
    for (int row = 0; row < n->stored.h * size; row += size) {
        struct row_sums sum = {0};
        for (int column = 0; column < n->stored.w * size; column += size) {
            const real *at = x + (row * n->in.w + column) * BLOCK;
            vreal d[4];
            load_gradients(epilogue, size, size, size, d, dy, from,
                           stored_window(size, n, row, column), &sum.first);
            for (int i = 0; i < size * size; i++)
                sum.second +=
                    d[i] * (vreal_load(at + (i / size * n->in.w + i % size) * BLOCK) - mean);
        }
        add_row(sums, lane, sum);
    }
}

static void sum_gradients(const struct norm *n, double *sums, const real *dy, const uint8_t *from,
                          const real *x, const real *mean)
{
    for (int lane = 0; lane < BLOCK; lane += VECTOR_LANES) {
        vreal m = vreal_load(mean + lane);
        if (n->epilogue == EPILOGUE_RELU_POOL)
            sum_gradients_all(EPILOGUE_RELU_POOL, n, sums, lane, dy + lane, from + lane, x + lane,
                              m);
        else if (n->epilogue == EPILOGUE_RELU)
            sum_gradients_all(EPILOGUE_RELU, n, sums, lane, dy + lane, from + lane, x + lane, m);
        else
            sum_gradients_all(EPILOGUE_NONE, n, sums, lane, dy + lane, from + lane, x + lane, m);
    }
}

/* All of dx: where pooling dropped the output, dy is 0 but the batch's means are still there. */
INLINE void differentiate_all(int epilogue, const struct norm *n, real *dx, const real *dy,
                              const uint8_t *from, const real *x, const real *terms)
{
    const int size = epilogue == EPILOGUE_RELU_POOL ? 2 : 1;
    vreal mean = vreal_load(terms), of_dy = vreal_load(terms + BLOCK), unused = {0};
    vreal of_x = vreal_load(terms + 2 * BLOCK), constant = vreal_load(terms + 3 * BLOCK);
    for (int row = 0; row < n->in.h; row += size) {
        for (int column = 0; column < n->in.w; column += size) {
            vreal d[4];
            load_gradients(epilogue, size, size, size, d, dy, from,
                           stored_window(size, n, row, column), &unused);
            for (int i = 0; i < size * size; i++) {
                int r = row + i / size, c = column + i % size;
                size_t at = (size_t)(r * n->in.w + c) * BLOCK;
                if (r < n->in.h && c < n->in.w)
                    vreal_store(dx + at,
                                of_dy * d[i] + (of_x * (vreal_load(x + at) - mean) + constant));
            }
        }
    }
}

static void differentiate(const struct norm *n, real *dx, const real *dy, const uint8_t *from,
                          const real *x, const real *terms)
{
    for (int l = 0; l < BLOCK; l += VECTOR_LANES) {
        if (n->epilogue == EPILOGUE_RELU_POOL)
            differentiate_all(EPILOGUE_RELU_POOL, n, dx + l, dy + l, from + l, x + l, terms + l);
        else if (n->epilogue == EPILOGUE_RELU)
            differentiate_all(EPILOGUE_RELU, n, dx + l, dy + l, from + l, x + l, terms + l);
        else
            differentiate_all(EPILOGUE_NONE, n, dx + l, dy + l, from + l, x + l, terms + l);
    }
}

const struct norm_functions SIMD_NAME(norm) = {
    .block = BLOCK,
    .sum_inputs = sum_inputs,
    .normalise = normalise,
    .sum_gradients = sum_gradients,
    .differentiate = differentiate,
};
