/* Forward and backward of first_conv.h. Backward holds weight gradients in registers during a pass
 * over an image: 3x3 taps of one or three input channels, for one vector of output channels. */
#include "kernels/simd/first_conv.h"

#include "kernels/simd/epilogue.h"

#if defined(__AVX512F__)
#define COLUMNS  FIRST_CONV_COLUMNS
#define CHANNELS 3
#else
#define COLUMNS  2
#define CHANNELS 1
#endif
#define ROWS FIRST_CONV_ROWS

_Static_assert(FIRST_CONV_COLUMNS % COLUMNS == 0, "groups end where the border does");

/* A barrier across which the compiler does not move loads; empty without AVX-512. Neighbouring taps
 * share inputs. If the compiler kept these inputs in registers, they would displace the sums. */
#if defined(__AVX512F__)
#define LOADS_STAY_HERE __asm__ volatile("" ::: "memory")
#else
#define LOADS_STAY_HERE
#endif

/* Adds the convolution of one input channel with `weights` [3, 3, BLOCK] to y [2, ROWS, COLUMNS].
 * x: start of the first output's input patch in this channel. */
INLINE void add_channel(vreal y[2][ROWS * COLUMNS], const real *x, int width, const real *weights)
{
#pragma GCC unroll 3
    for (int r = 0; r < 3; r++) {
#pragma GCC unroll 3
        for (int s = 0; s < 3; s++, weights += BLOCK) {
            vreal w0 = vreal_load(weights), w1 = vreal_load(weights + VECTOR_LANES);
#pragma GCC unroll 12
            for (int i = 0; i < ROWS * COLUMNS; i++) {
                vreal in = vreal_all(x[(i / COLUMNS + r) * width + i % COLUMNS + s]);
                y[0][i] += in * w0;
                y[1][i] += in * w1;
            }
            LOADS_STAY_HERE;
        }
    }
}

INLINE void forward_group(int epilogue, enum precision precision, const struct first_conv *f,
                          real *y, uint8_t *from, struct patch at, const real *x,
                          const real *weights, const real *bias)
{
    vreal sums[2][ROWS * COLUMNS];
#pragma GCC unroll 12
    for (int i = 0; i < ROWS * COLUMNS; i++) {
        sums[0][i] = vreal_load(bias);
        sums[1][i] = vreal_load(bias + VECTOR_LANES);
    }
    for (int c = 0; c < f->in_c; c++, x += f->image_h * f->image_w, weights += TAPS * BLOCK)
        add_channel(sums, x, f->image_w, weights);
    store_outputs(epilogue, precision, ROWS, COLUMNS, COLUMNS, sums[0], y, from, at);
    store_outputs(epilogue, precision, ROWS, COLUMNS, COLUMNS, sums[1],
                  value_at(precision, y, VECTOR_LANES), from + VECTOR_LANES, at);
}

INLINE struct patch stored_patch(int epilogue, const struct first_conv *f, int row, int column)
{
    const int size = epilogue == EPILOGUE_RELU_POOL ? 2 : 1;
    return (struct patch){
        .row = row / size, .column = column / size, .h = f->stored.h, .w = f->stored.w};
}

INLINE void forward_image(int epilogue, enum precision precision, const struct first_conv *f,
                          real *y, uint8_t *from, const real *x, const real *weights,
                          const real *bias)
{
    size_t stored = (size_t)f->stored.h * (size_t)f->stored.w * BLOCK;
    for (int b = 0; b < f->out_blocks; b++) {
        for (int row = 0; row < f->out.h; row += ROWS)
            for (int column = 0; column < f->out.w; column += COLUMNS)
                forward_group(epilogue, precision, f, y, from,
                              stored_patch(epilogue, f, row, column), x + row * f->image_w + column,
                              weights, bias);
        y = value_at(precision, y, stored);
        from += stored;
        weights += first_conv_panel(f);
        bias += BLOCK;
    }
}

/* Adds the weight gradients of ROWS by 2 outputs to dw [channels, 3, 3]: each output gradient in dy
 * times the output's input patch in `channels` planes of x. */
INLINE void add_gradients(int channels, vreal *dw, const real *x, size_t plane, int width,
                          const vreal dy[ROWS * 2])
{
#pragma GCC unroll 4
    for (int i = 0; i < ROWS * 2; i++) {
#pragma GCC unroll 3
        for (int c = 0; c < channels; c++) {
            const real *patch = x + (size_t)c * plane + i / 2 * width + i % 2;
#pragma GCC unroll 9
            for (int t = 0; t < TAPS; t++)
                dw[c * TAPS + t] += vreal_all(patch[t / 3 * width + t % 3]) * dy[i];
        }
    }
}

/* Adds the weight gradients of an image to dweights, for `channels` channels of x and one vector of
 * output channels. Returns the sum of the output gradients. */
INLINE vreal backward_channels(int channels, int epilogue, const struct first_conv *f,
                               real *dweights, const real *dy, const uint8_t *from, const real *x)
{
    vreal dw[CHANNELS * TAPS] = {0}, dbias = {0};
    size_t plane = (size_t)f->image_h * (size_t)f->image_w;
    for (int row = 0; row < f->out.h; row += ROWS) {
        for (int column = 0; column < f->out.w; column += 2) {
            vreal gradients[ROWS * 2];
            load_gradients(epilogue, ROWS, 2, 2, gradients, dy, from,
                           stored_patch(epilogue, f, row, column), &dbias);
            add_gradients(channels, dw, x + row * f->image_w + column, plane, f->image_w,
                          gradients);
        }
    }
    for (int t = 0; t < channels * TAPS; t++)
        vreal_store(dweights + t * BLOCK, vreal_load(dweights + t * BLOCK) + dw[t]);
    return dbias;
}

/* Adds the weight gradients of an image to dweights, for input channels [first, first + channels)
 * and one block of output channels. If `first` is 0, also adds the sums of the output gradients to
 * dbias, so that they are added once per block. */
INLINE void backward_group(int channels, int epilogue, const struct first_conv *f, int first,
                           real *dweights, real *dbias, const real *dy, const uint8_t *from,
                           const real *x)
{
    x += (size_t)first * (size_t)f->image_h * (size_t)f->image_w;
    dweights += first * TAPS * BLOCK;
    for (int lane = 0; lane < BLOCK; lane += VECTOR_LANES) {
        vreal sum =
            backward_channels(channels, epilogue, f, dweights + lane, dy + lane, from + lane, x);
        if (first == 0)
            vreal_store(dbias + lane, vreal_load(dbias + lane) + sum);
    }
}

INLINE void backward_image(int epilogue, const struct first_conv *f, real *dweights, real *dbias,
                           const real *dy, const uint8_t *from, const real *x)
{
    size_t stored = (size_t)f->stored.h * (size_t)f->stored.w * BLOCK;
    for (int b = 0; b < f->out_blocks; b++) {
        int c = 0;
        for (; c + CHANNELS <= f->in_c; c += CHANNELS)
            backward_group(CHANNELS, epilogue, f, c, dweights, dbias, dy, from, x);
        for (; c < f->in_c; c++)
            backward_group(1, epilogue, f, c, dweights, dbias, dy, from, x);
        dy += stored;
        from += stored;
        dbias += BLOCK;
        dweights += first_conv_panel(f);
    }
}

INLINE void forward_of(enum precision precision, const struct first_conv *f, real *y, uint8_t *from,
                       const real *x, const real *weights, const real *bias)
{
    if (f->epilogue == EPILOGUE_RELU_POOL)
        forward_image(EPILOGUE_RELU_POOL, precision, f, y, from, x, weights, bias);
    else if (f->epilogue == EPILOGUE_RELU)
        forward_image(EPILOGUE_RELU, precision, f, y, from, x, weights, bias);
    else
        forward_image(EPILOGUE_NONE, precision, f, y, from, x, weights, bias);
}

BY_PRECISION(forward, f->y_precision, forward_of,
             (const struct first_conv *f, real *y, uint8_t *from, const real *x,
              const real *weights, const real *bias),
             f, y, from, x, weights, bias)

static void backward(const struct first_conv *f, real *dweights, real *dbias, const real *dy,
                     const uint8_t *from, const real *x)
{
    if (f->epilogue == EPILOGUE_RELU_POOL)
        backward_image(EPILOGUE_RELU_POOL, f, dweights, dbias, dy, from, x);
    else if (f->epilogue == EPILOGUE_RELU)
        backward_image(EPILOGUE_RELU, f, dweights, dbias, dy, from, x);
    else
        backward_image(EPILOGUE_NONE, f, dweights, dbias, dy, from, x);
}

const struct first_conv_functions SIMD_NAME(first_conv) = {
    .block = BLOCK,
    .forward = forward,
    .backward = backward,
};
