/* Because of pooling and ReLU, few outputs have a nonzero gradient: in lenet_21k's second
 * convolution about 100 of 1,280 per image. These gradients are listed per channel, with the
 * positions of their input patches. All others are skipped.
 *
 * In the first layer, which has few channels, lanes are adjacent numbers in a row of the patch. If
 * its images are bytes with at most 64 rows and columns, gradients whose window has only zero
 * inputs are skipped too, since they contribute only to the bias. In other layers lanes are input
 * channels; image and gradient are transposed. */
#include "kernels/simd/lanes.h"
#include "kernels/simd/small_conv/small_conv.h"

/* Largest number of taps whose weights and gradients fit into registers, with two registers left
 * for operands. */
#if VECTOR_BYTES == 64
#define TAPS 15
#else
#define TAPS 7
#endif

typedef real vrow __attribute__((vector_size(SMALL_CONV_ROW * sizeof(real))));

static void prepare(const struct small_conv *c, uint32_t *starts)
{
    for (size_t p = 0; p < c->pooled_h * c->pooled_w; p++)
        starts[p] = (uint32_t)(p / c->pooled_w * 2 * c->in_w + p % c->pooled_w * 2);
}

/* Lists the channel's gradients in w->g and the positions of their patches in w->at. Omits
 * gradients that ReLU set to 0, and gradients whose window is known to have only zero inputs. Adds
 * all gradients to w->dbias. Returns the length of the list. */
static size_t gather(const struct small_conv *c, const struct small_conv_backward_work *w,
                     const struct small_conv_gradient *in, size_t channel)
{
    size_t count = c->pooled_h * c->pooled_w, n = 0;
    const real *dy = in->dy + channel * count;
    const struct small_conv_marks *marks = in->marks + channel * c->vectors;
    const uint16_t *nonzero = in->nonzero;
    const uint32_t *starts = w->starts;
    uint32_t *places = w->at;
    real *values = w->g, scale = in->scale;
    lane_int row = (lane_int)c->in_w;
    vreal sum = vreal_load(w->dbias + channel * SMALL_CONV_PAD);
    for (size_t i = 0; i < count; i += VECTOR_LANES) {
        uint16_t low = marks->low, listed = marks->live;
        vreal g = vreal_load_first(dy + i, count - i);
        g = vreal_pick(vmask_of_bits(listed), g, vreal_all(0)) * scale;
        sum += g;
        if (nonzero != NULL)
            listed &= *nonzero++;
        vint at = vint_load_numbers(starts + i);
        uint16_t right = (uint16_t)((low & marks->right_below) | (~low & marks->right_above));
        at = vint_add_where(vmask_of_bits(low), at, row);
        at = vint_add_where(vmask_of_bits(right), at, 1);
        n += vreal_append(values + n, places + n, listed, g, at);
        marks++;
    }
    vreal_store(w->dbias + channel * SMALL_CONV_PAD, sum);
    return n;
}

/* Adds one input channel's weight gradients to dw [kernel][ROW]: each of the n listed gradients
 * times its patch of x. */
INLINE void add_rows(const int kernel, const struct small_conv_backward_work *w, size_t n,
                     const real *x, size_t row, real *dw)
{
    enum { CHAINS = 2 }; /* independent sums, so that an FMA need not wait for another */
    vrow sums[CHAINS][SMALL_CONV_KERNEL_MAX] = {0};
    for (size_t i = 0; i < n; i += CHAINS) {
        UNROLL
        for (size_t chain = 0; chain < CHAINS; chain++) {
            const real *from = x + w->at[i + chain];
            UNROLL
            for (int r = 0; r < kernel; r++, from += row) {
                vrow seen;
                memcpy(&seen, from, sizeof seen);
                sums[chain][r] += seen * w->g[i + chain];
            }
        }
    }
    UNROLL
    for (int r = 0; r < kernel; r++) {
        vrow sum;
        memcpy(&sum, dw + r * SMALL_CONV_ROW, sizeof sum);
        sum += sums[0][r] + sums[1][r];
        memcpy(dw + r * SMALL_CONV_ROW, &sum, sizeof sum);
    }
}

static void first(const struct small_conv *c, const struct small_conv_backward_work *w,
                  const struct small_conv_gradient *in)
{
    size_t rows = c->kernel * SMALL_CONV_ROW;
    for (size_t k = 0; k < in->n_kept; k++) {
        size_t n = gather(c, w, in, in->kept[k]);
        w->g[n] = 0; /* if n is odd, the last gradient is paired with this zero */
        w->at[n] = 0;
        real *dw = w->dw + in->kept[k] * c->in_c * rows;
        for (size_t channel = 0; channel < c->in_c; channel++, dw += rows) {
            const real *x = w->x + channel * c->in_h * c->in_w;
            switch (c->kernel) {
                CASES_2_TO_7(add_rows, w, n, x, c->in_w, dw)
            }
        }
    }
}

/* Returns the index of position p of a channel in the transposed layout. */
INLINE size_t transposed_at(const struct small_conv *c, size_t channel, size_t p)
{
    return (channel / SMALL_CONV_PAD * c->transposed + p) * SMALL_CONV_PAD +
           channel % SMALL_CONV_PAD;
}

#ifdef LANES_HAS_QUADS
/* Transposes `quads` groups of four channels, starting at `from`. `plane`: numbers per channel.
 * `left`: channels from `from` to the image's end. Lanes without a channel get arbitrary numbers,
 * which are never used. */
INLINE void transpose_channels(const int quads, real *to, const real *from, size_t plane,
                               size_t left)
{
    const real *rows[VECTOR_LANES];
    for (size_t i = 0; i < VECTOR_LANES; i++)
        rows[i] = from + (i < left ? i : left - 1) * plane;
    for (size_t p = 0; p < plane; p += 4) {
        vreal square[4];
        UNROLL
        for (int i = 0; i < 4; i++)
            square[i] = vreal_of_quads(rows[i] + p, rows[4 + i] + p, rows[8 + i] + p,
                                       rows[12 + i] + p, quads);
        vreal_transpose_quads(square);
        UNROLL
        for (size_t i = 0; i < 4; i++)
            vreal_store(to + (p + i) * SMALL_CONV_PAD, square[i]);
    }
}

static void transpose(const struct small_conv *c, real *to, const real *from)
{
    size_t plane = c->in_h * c->in_w;
    for (size_t channel = 0; channel < c->in_c; channel += VECTOR_LANES) {
        size_t left = c->in_c - channel;
        real *column = to + transposed_at(c, channel, 0);
        switch (left < VECTOR_LANES ? (left + 3) / 4 : QUADS) {
            CASES_1_TO_4(transpose_channels, column, from + channel * plane, plane, left)
        }
    }
}

static void transpose_back(const struct small_conv *c, real *to, const real *from)
{
    size_t plane = c->in_h * c->in_w;
    for (size_t channel = 0; channel < c->in_c; channel += 4)
        for (size_t p = 0; p < plane; p += VECTOR_LANES) {
            vreal square[4];
            const real *column = from + transposed_at(c, channel, p);
            UNROLL
            for (int i = 0; i < 4; i++)
                square[i] = vreal_of_rows(column + i * SMALL_CONV_PAD, 4 * SMALL_CONV_PAD, QUADS);
            vreal_transpose_quads(square);
            UNROLL
            for (size_t i = 0; i < 4; i++)
                if (channel + i < c->in_c)
                    vreal_store_first(to + (channel + i) * plane + p, square[i], plane - p);
        }
}
#else
/* Transposes the image from [channel][position] to blocks [position][SMALL_CONV_PAD channels], in
 * squares of VECTOR_LANES channels and positions. */
static void transpose(const struct small_conv *c, real *to, const real *from)
{
    size_t plane = c->in_h * c->in_w;
    for (size_t channel = 0; channel < c->in_c; channel += VECTOR_LANES)
        for (size_t p = 0; p < plane; p += VECTOR_LANES) {
            vreal square[VECTOR_LANES] = {0};
            UNROLL
            for (size_t i = 0; i < VECTOR_LANES; i++)
                if (channel + i < c->in_c)
                    square[i] = vreal_load(from + (channel + i) * plane + p);
            vreal_transpose(square);
            real *column = to + transposed_at(c, channel, p);
            UNROLL
            for (size_t i = 0; i < VECTOR_LANES; i++)
                vreal_store(column + i * SMALL_CONV_PAD, square[i]);
        }
}

static void transpose_back(const struct small_conv *c, real *to, const real *from)
{
    size_t plane = c->in_h * c->in_w;
    for (size_t channel = 0; channel < c->in_c; channel += VECTOR_LANES)
        for (size_t p = 0; p < plane; p += VECTOR_LANES) {
            vreal square[VECTOR_LANES];
            const real *column = from + transposed_at(c, channel, p);
            UNROLL
            for (size_t i = 0; i < VECTOR_LANES; i++)
                square[i] = vreal_load(column + i * SMALL_CONV_PAD);
            vreal_transpose(square);
            UNROLL
            for (size_t i = 0; i < VECTOR_LANES; i++)
                if (channel + i < c->in_c)
                    vreal_store_first(to + (channel + i) * plane + p, square[i], plane - p);
        }
}
#endif

/* Returns the distance between rows of a transposed image, in reals. */
INLINE size_t transposed_row(const struct small_conv *c)
{
    return c->in_w * SMALL_CONV_PAD;
}

/* Start addresses for a group of kernel rows and VECTOR_LANES input channels: transposed image
 * (channels innermost), its gradient, weights, their gradient. */
struct small_conv_taps {
    const real *x;
    real *dx;
    const real *weights;
    real *dw;
};

/* Adds to dw and dx of `rows` kernel rows and VECTOR_LANES input channels. For each of the n > 0
 * gradients g in w->g: dw += g times its patch of the transposed x; dx of the same patch += g times
 * the weights. One loop computes both, because dx is bounded by stores and dw by loads. */
INLINE void add_taps(const struct small_conv *c, const struct small_conv_backward_work *w, size_t n,
                     const struct small_conv_taps *t, const int kernel, const int rows)
{
    vreal sums[TAPS], weights[TAPS];
    size_t row = transposed_row(c);
    const uint32_t *at = w->at;
    const real *gradient = w->g;
    UNROLL
    for (int tap = 0; tap < rows * kernel; tap++) {
        sums[tap] = vreal_load(t->dw + tap * SMALL_CONV_PAD);
        weights[tap] = vreal_load(t->weights + tap * SMALL_CONV_PAD);
    }
    /* Processes gradients 0, 2, 4, ..., then 1, 3, 5, ...: patches of adjacent gradients overlap,
     * and loading numbers that were just stored is slow. */
    size_t i = 0, turn = 0;
    do { /* do-while: a loop that may be skipped makes the compiler spill all registers */
        size_t place = at[i] * SMALL_CONV_PAD;
        const real *from = t->x + place;
        real *to = t->dx + place;
        vreal g = vreal_all(gradient[i]);
        UNROLL
        for (int r = 0; r < rows; r++, from += row, to += row)
            UNROLL
        for (int s = 0; s < kernel; s++) {
            real *sum = to + s * SMALL_CONV_PAD;
            sums[r * kernel + s] += g * vreal_load(from + s * SMALL_CONV_PAD);
            vreal_store(sum, vreal_load(sum) + g * weights[r * kernel + s]);
        }
        i += 2;
        if (i >= n && turn == 0) {
            turn = 1;
            i = 1;
        }
    } while (i < n);
    UNROLL
    for (int tap = 0; tap < rows * kernel; tap++)
        vreal_store(t->dw + tap * SMALL_CONV_PAD, sums[tap]);
}

INLINE void add_channel(const int kernel, const struct small_conv *c,
                        const struct small_conv_backward_work *w, size_t n, const real *weights,
                        real *dw)
{
    const int most = TAPS / kernel < kernel ? TAPS / kernel : kernel; /* largest number of kernel
                                                                         rows processed together */
    for (size_t channel = 0; channel < c->in_c; channel += VECTOR_LANES) {
        size_t transposed = transposed_at(c, channel, 0), lane = channel % SMALL_CONV_PAD;
        size_t tap = (channel - lane) * (size_t)(kernel * kernel) + lane;
        struct small_conv_taps t = {w->transposed_x + transposed, w->transposed_dx + transposed,
                                    weights + tap, dw + tap};
        for (int r = 0; r + most <= kernel; r += most) {
            add_taps(c, w, n, &t, kernel, most);
            t.x += (size_t)most * transposed_row(c);
            t.dx += (size_t)most * transposed_row(c);
            t.weights += most * kernel * SMALL_CONV_PAD;
            t.dw += most * kernel * SMALL_CONV_PAD;
        }
        if (kernel % most > 0)
            add_taps(c, w, n, &t, kernel, kernel % most);
    }
}

static void inner(const struct small_conv *c, const struct small_conv_backward_work *w,
                  const real *transposed_weights, const struct small_conv_gradient *in, real *dx)
{
    size_t taps = c->kernel * c->kernel * c->lanes_c;
    transpose(c, w->transposed_x, w->x);
    memset(w->transposed_dx, 0, c->transposed * c->lanes_c * sizeof *w->transposed_dx);
    for (size_t k = 0; k < in->n_kept; k++) {
        size_t n = gather(c, w, in, in->kept[k]);
        if (n == 0)
            continue;
        const real *weights = transposed_weights + in->kept[k] * taps;
        real *dw = w->dw + in->kept[k] * taps;
        switch (c->kernel) {
            CASES_2_TO_7(add_channel, c, w, n, weights, dw)
        }
    }
    transpose_back(c, dx, w->transposed_dx);
}

const struct small_conv_backward_functions SIMD_NAME(small_conv_backward) = {
    .prepare = prepare,
    .first = first,
    .inner = inner,
};
