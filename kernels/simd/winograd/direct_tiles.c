/* Copies activations between blocks of channels and the layout of op_direct.c, in which the images
 * of a chunk are adjacent. Applies the epilogue to outputs. */
#include "kernels/simd/epilogue.h"
#include "kernels/simd/winograd/winograd.h"

/* Stores the channels of a block at one position as operands. */
INLINE void store_block(real *to, vreal low, vreal high)
{
    operand_store(to, low);
    operand_store(to + VECTOR_LANES / PAIR, high);
}

/* Copies the channels of a block at one position to operands. */
INLINE void copy_block(enum precision precision, real *to, const real *from, size_t at)
{
#ifdef OPERANDS_ARE_PAIRS
    if (precision == PRECISION_bf16) {
        vreal_store(to, vreal_load(value_at(precision, from, at)));
        return;
    }
#endif
    store_block(to, value_load(precision, from, at),
                value_load(precision, from, at + VECTOR_LANES));
}

INLINE void input_all(enum precision precision, const struct winograd *w, int n, real *v,
                      const real *x)
{
    size_t pixels = (size_t)w->in.h * (size_t)w->in.w, blocks = (size_t)w->in_blocks;
    for (size_t b = 0; b < blocks; b++)
        for (size_t p = 0; p < pixels; p++, v += winograd_turned_plane(w, n))
            for (size_t i = 0; i < (size_t)n; i++)
                copy_block(precision, v + i * ROW, x, ((i * blocks + b) * pixels + p) * BLOCK);
}

BY_PRECISION(input_of, w->x_precision, input_all,
             (const struct winograd *w, int n, real *v, const real *x), w, n, v, x)

static void input(const struct winograd *w, int n, real *v, uint16_t *blank, const real *x)
{
    input_of(w, n, v, x);
}

/* Stores dv in dx. With Winograd's algorithm, overlapping tiles are added instead; here each number
 * of dv is already a complete sum. */
static void input_adjoint(const struct winograd *w, int n, int at, real *dx, const real *dv)
{
    size_t pixels = (size_t)w->in.h * (size_t)w->in.w, blocks = (size_t)w->in_blocks;
    for (size_t p = 0; p < pixels; p++)
        for (size_t i = 0; i < (size_t)n; i++, dv += BLOCK) {
            real *to = dx + ((i * blocks + (size_t)at) * pixels + p) * BLOCK;
            vreal_store(to, vreal_load(dv));
            vreal_store(to + VECTOR_LANES, vreal_load(dv + VECTOR_LANES));
        }
}

INLINE struct patch stored_patch(int size, const struct winograd *w, int row, int column)
{
    return (struct patch){
        .row = row / size, .column = column / size, .h = w->stored.h, .w = w->stored.w};
}

/* Adds the bias to one patch of convolution sums (2x2 with pooling, else 1x1), applies the epilogue
 * and stores the result, for one vector of channels. Positions of `m` are `plane` numbers apart.
 * Stores nothing if a part of the patch lies beyond the outputs. */
INLINE void store_patch(int epilogue, enum precision precision, const struct winograd *w, int row,
                        int column, real *y, uint8_t *from, const real *m, size_t plane, vreal bias)
{
    const int size = epilogue == EPILOGUE_RELU_POOL ? 2 : 1;
    if (row + size > w->out.h || column + size > w->out.w)
        return;
    vreal outputs[4];
#pragma GCC unroll 4
    for (int i = 0; i < size * size; i++)
        outputs[i] =
            bias +
            vreal_load(m + (size_t)((row + i / size) * w->out.w + column + i % size) * plane);
    store_outputs(epilogue, precision, size, size, size, outputs, y, from,
                  stored_patch(size, w, row, column));
}

INLINE void output_all(int epilogue, enum precision precision, const struct winograd *w, int n,
                       int at, real *y, uint8_t *from, const real *m, const real *bias)
{
    const int size = epilogue == EPILOGUE_RELU_POOL ? 2 : 1;
    size_t plane = (size_t)n * BLOCK;
    size_t image_block = (size_t)w->stored.h * (size_t)w->stored.w * BLOCK;
    for (int i = 0; i < n; i++, m += BLOCK) {
        size_t to = ((size_t)i * (size_t)w->out_blocks + (size_t)at) * image_block;
        for (int row = 0; row < w->out.h; row += size)
            for (int column = 0; column < w->out.w; column += size)
                for (size_t half = 0; half < BLOCK; half += VECTOR_LANES)
                    store_patch(epilogue, precision, w, row, column,
                                value_at(precision, y, to + half), from + to + half, m + half,
                                plane, vreal_load(bias + half));
    }
}

/* Stores the gradients of one patch in dm and returns their sum. Gradients of outputs that pooling
 * dropped are zero. */
INLINE vreal load_patch(int epilogue, const struct winograd *w, int row, int column, real *dm,
                        size_t plane, const real *dy, const uint8_t *from)
{
    const int size = epilogue == EPILOGUE_RELU_POOL ? 2 : 1;
    vreal gradients[4], dbias = {0};
    load_gradients(epilogue, size, size, size, gradients, dy, from,
                   stored_patch(size, w, row, column), &dbias);
#pragma GCC unroll 4
    for (int i = 0; i < size * size; i++)
        if (row + i / size < w->out.h && column + i % size < w->out.w)
            operand_store(dm + (size_t)((row + i / size) * w->out.w + column + i % size) * plane,
                          gradients[i]);
    return dbias;
}

INLINE void output_adjoint_all(int epilogue, const struct winograd *w, int n, int image, real *dm,
                               real *dbias, const real *dy, const uint8_t *from)
{
    const int size = epilogue == EPILOGUE_RELU_POOL ? 2 : 1;
    size_t plane = winograd_turned_plane(w, n);
    vreal sum[2] = {vreal_load(dbias), vreal_load(dbias + VECTOR_LANES)};
    dm += (size_t)image * ROW;
    for (int row = 0; row < w->out.h; row += size)
        for (int column = 0; column < w->out.w; column += size)
            for (size_t half = 0; half < 2; half++) {
                size_t lane = half * VECTOR_LANES;
                sum[half] += load_patch(epilogue, w, row, column, dm + lane / PAIR, plane,
                                        dy + lane, from + lane);
            }
    vreal_store(dbias, sum[0]);
    vreal_store(dbias + VECTOR_LANES, sum[1]);
}

INLINE void output_kind(enum precision precision, const struct winograd *w, int n, int at, real *y,
                        uint8_t *from, const real *m, const real *bias)
{
    if (w->epilogue == EPILOGUE_RELU_POOL)
        output_all(EPILOGUE_RELU_POOL, precision, w, n, at, y, from, m, bias);
    else if (w->epilogue == EPILOGUE_RELU)
        output_all(EPILOGUE_RELU, precision, w, n, at, y, from, m, bias);
    else
        output_all(EPILOGUE_NONE, precision, w, n, at, y, from, m, bias);
}

BY_PRECISION(output_of, w->y_precision, output_kind,
             (const struct winograd *w, int n, int at, real *y, uint8_t *from, const real *m,
              const real *bias),
             w, n, at, y, from, m, bias)

static void output(const struct winograd *w, int n, int at, real *y, uint8_t *from, const real *m,
                   const real *bias, const uint16_t *blank)
{
    (void)blank; /* not needed: direct sums of products with zeros are exactly zero */
    output_of(w, n, at, y, from, m, bias);
}

static void output_adjoint(const struct winograd *w, int n, int image, real *dm, real *dbias,
                           const real *dy, const uint8_t *from)
{
    if (w->epilogue == EPILOGUE_RELU_POOL)
        output_adjoint_all(EPILOGUE_RELU_POOL, w, n, image, dm, dbias, dy, from);
    else if (w->epilogue == EPILOGUE_RELU)
        output_adjoint_all(EPILOGUE_RELU, w, n, image, dm, dbias, dy, from);
    else
        output_adjoint_all(EPILOGUE_NONE, w, n, image, dm, dbias, dy, from);
}

const struct winograd_tiles SIMD_NAME(direct_tiles) = {
    .block = BLOCK,
    .pair = PAIR,
    .input = input,
    .input_adjoint = input_adjoint,
    .output = output,
    .output_adjoint = output_adjoint,
};
