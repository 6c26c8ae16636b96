/* Tile transforms of winograd.h. Lanes are channels, so no shuffles are needed. Bias, ReLU, pooling
 * and their adjoints are applied in registers: as separate passes over memory, they took as long as
 * the products. Inputs outside the image are zero. Outputs that no later layer reads are
 * dropped. */
#include "kernels/simd/epilogue.h"
#include "kernels/simd/lanes.h"
#include "kernels/simd/operands.h"
#include "kernels/simd/winograd/winograd_axis.h"

enum { OUTPUTS_MAX = 4, INPUTS_MAX = 6 };

/* Position in a loop over the tiles of one block of channels: image, tile row, tile column. */
struct walk {
    int image, row, column;
};

static inline void walk_next(struct walk *at, const struct winograd *w)
{
    if (++at->column < w->tiles_w)
        return;
    at->column = 0;
    if (++at->row < w->tiles_h)
        return;
    at->row = 0;
    at->image++;
}

INLINE struct patch input_patch(int kind, const struct winograd *w, struct walk at)
{
    return (struct patch){.row = w->origin_h + at.row * axis_outputs(kind),
                          .column = w->origin_w + at.column * axis_outputs(kind),
                          .h = w->in.h,
                          .w = w->in.w};
}

INLINE void input_tile(int kind, enum precision precision, real *v, size_t plane, const real *x,
                       struct patch at, bool inside)
{
    const int points = axis_points(kind), inputs = axis_inputs(kind);
    vreal half[WINOGRAD_POINTS_MAX][INPUTS_MAX];
#pragma GCC unroll 6
    for (int j = 0; j < inputs; j++) {
        vreal d[INPUTS_MAX], out[WINOGRAD_POINTS_MAX];
#pragma GCC unroll 6
        for (int i = 0; i < inputs; i++)
            d[i] = patch_has(at, i, j, inside)
                       ? value_load(precision, x, (size_t)patch_at(at, i, j))
                       : (vreal){0};
        axis_input(kind, out, d);
#pragma GCC unroll 6
        for (int i = 0; i < points; i++)
            half[i][j] = out[i];
    }
#pragma GCC unroll 6
    for (int i = 0; i < points; i++) {
        vreal out[WINOGRAD_POINTS_MAX];
        axis_input(kind, out, half[i]);
#pragma GCC unroll 6
        for (int j = 0; j < points; j++)
            operand_store(v + (size_t)(i * points + j) * plane, out[j]);
    }
}

INLINE void input_all(int kind, enum precision precision, const struct winograd *w, int n, real *v,
                      const real *x)
{
    int tiles = n * winograd_tiles(w);
    size_t plane = operand_plane(tiles), image_block = (size_t)w->in.h * (size_t)w->in.w * BLOCK;
    for (int b = 0; b < w->in_blocks; b++) {
        struct walk at = {0};
        for (int t = 0; t < tiles; t++, walk_next(&at, w)) {
            struct patch in = input_patch(kind, w, at);
            const real *from = value_at(
                precision, x, ((size_t)at.image * (size_t)w->in_blocks + (size_t)b) * image_block);
            real *to = v + (size_t)b * (size_t)winograd_points(w) * plane + (size_t)t * ROW;
            for (int half = 0; half < BLOCK; half += VECTOR_LANES) {
                if (patch_is_inside(in, axis_inputs(kind)))
                    input_tile(kind, precision, to + half / PAIR, plane,
                               value_at(precision, from, (size_t)half), in, true);
                else
                    input_tile(kind, precision, to + half / PAIR, plane,
                               value_at(precision, from, (size_t)half), in, false);
            }
        }
    }
}

/* Returns whether all channels of image x are zero at position (i, j) of a patch. Positions outside
 * the image are zero. */
static bool position_is_blank(const struct winograd *w, const real *x, struct patch at, int i,
                              int j)
{
    if (!patch_has(at, i, j, false))
        return true;
    size_t block = (size_t)w->in.h * (size_t)w->in.w * BLOCK, end = (size_t)w->in_blocks * block;
    for (size_t p = (size_t)patch_at(at, i, j); p < end; p += block)
        if (vreal_nonzero_bits(value_load(w->x_precision, x, p)) ||
            vreal_nonzero_bits(value_load(w->x_precision, x, p + VECTOR_LANES)))
            return false;
    return true;
}

/* Returns 16 bits, one per 3x3 patch of an F4 tile, set if the patch is all zero. Returns 0 for an
 * all-zero tile, whose outputs are exact anyway. */
static uint16_t blank_patches(const struct winograd *w, const real *x, struct patch at)
{
    enum { INPUTS = 6, OUTPUTS = 4 };
    unsigned drawn[INPUTS] = {0}, all = 0, blank = 0;
    for (int i = 0; i < INPUTS; i++) {
        for (int j = 0; j < INPUTS; j++)
            drawn[i] |= (unsigned)!position_is_blank(w, x, at, i, j) << j;
        all |= drawn[i];
    }
    for (int i = 0; i < OUTPUTS && all != 0; i++) {
        unsigned columns = drawn[i] | drawn[i + 1] | drawn[i + 2];
        unsigned patches = columns | columns >> 1 | columns >> 2;
        blank |= (~patches & ((1 << OUTPUTS) - 1)) << i * OUTPUTS;
    }
    return (uint16_t)blank;
}

/* Writes blank [tiles]: one bit per 3x3 patch of a tile, set if the patch is all zero. An all-zero
 * tile has no bit set. Every patch includes at least one of the four middle positions. If each
 * middle position is nonzero in some channel, no patch is all zero, and no other position is
 * read. */
static void mark_blank(const struct winograd *w, int n, uint16_t *blank, const real *x)
{
    struct walk at = {0};
    for (int t = 0; t < n * winograd_tiles(w); t++, walk_next(&at, w)) {
        const struct patch in = input_patch(WINOGRAD_F4, w, at);
        const real *image = x + (size_t)at.image * winograd_in_room(w);
        bool maybe = false;
        for (int i = 0; i < 4 && !maybe; i++)
            maybe = position_is_blank(w, image, in, 2 + i / 2, 2 + i % 2);
        blank[t] = maybe ? blank_patches(w, image, in) : 0;
    }
}

INLINE void input_adjoint_tile(int kind, real *dx, const real *dv, size_t plane, struct patch at,
                               bool inside)
{
    const int points = axis_points(kind), inputs = axis_inputs(kind);
    vreal half[INPUTS_MAX][WINOGRAD_POINTS_MAX];
#pragma GCC unroll 6
    for (int j = 0; j < points; j++) {
        vreal v[WINOGRAD_POINTS_MAX], out[INPUTS_MAX];
#pragma GCC unroll 6
        for (int i = 0; i < points; i++)
            v[i] = vreal_load(dv + (size_t)(i * points + j) * plane);
        axis_input_adjoint(kind, out, v);
#pragma GCC unroll 6
        for (int i = 0; i < inputs; i++)
            half[i][j] = out[i];
    }
#pragma GCC unroll 6
    for (int i = 0; i < inputs; i++) {
        vreal out[INPUTS_MAX];
        axis_input_adjoint(kind, out, half[i]);
#pragma GCC unroll 6
        for (int j = 0; j < inputs; j++) {
            if (!patch_has(at, i, j, inside))
                continue;
            real *to = dx + patch_at(at, i, j);
            vreal_store(to, vreal_load(to) + out[j]);
        }
    }
}

INLINE void input_adjoint_all(int kind, const struct winograd *w, int n, int b, real *dx,
                              const real *dv)
{
    int tiles = n * winograd_tiles(w);
    size_t plane = winograd_spread(BLOCK, tiles),
           image_block = (size_t)w->in.h * (size_t)w->in.w * BLOCK;
    struct walk at = {0};
    for (int t = 0; t < tiles; t++, walk_next(&at, w), dv += BLOCK) {
        struct patch in = input_patch(kind, w, at);
        real *to = dx + ((size_t)at.image * (size_t)w->in_blocks + (size_t)b) * image_block;
        for (int half = 0; half < BLOCK; half += VECTOR_LANES) {
            if (patch_is_inside(in, axis_inputs(kind)))
                input_adjoint_tile(kind, to + half, dv + half, plane, in, true);
            else
                input_adjoint_tile(kind, to + half, dv + half, plane, in, false);
        }
    }
}

INLINE void output_tile(int kind, int epilogue, enum precision precision, real *to, uint8_t *from,
                        struct patch at, const real *m, size_t plane, vreal bias, unsigned blank)
{
    const int points = axis_points(kind), outputs = axis_outputs(kind);
    vreal half[OUTPUTS_MAX][WINOGRAD_POINTS_MAX], y[OUTPUTS_MAX * OUTPUTS_MAX];
#pragma GCC unroll 6
    for (int j = 0; j < points; j++) {
        vreal column[WINOGRAD_POINTS_MAX], out[OUTPUTS_MAX];
#pragma GCC unroll 6
        for (int i = 0; i < points; i++)
            column[i] = vreal_load(m + (size_t)(i * points + j) * plane);
        axis_output(kind, out, column);
#pragma GCC unroll 4
        for (int i = 0; i < outputs; i++)
            half[i][j] = out[i];
    }
#pragma GCC unroll 4
    for (int i = 0; i < outputs; i++) {
        axis_output(kind, y + i * OUTPUTS_MAX, half[i]);
#pragma GCC unroll 4
        for (int j = 0; j < outputs; j++)
            y[i * OUTPUTS_MAX + j] += bias;
    }
    if (kind == WINOGRAD_F4 && blank != 0) {
#pragma GCC unroll 16
        for (int i = 0; i < OUTPUTS_MAX * OUTPUTS_MAX; i++)
            y[i] = vreal_choose((vint){0} - (lane_int)(blank >> i & 1), bias, y[i]);
    }
    store_outputs(epilogue, precision, outputs, outputs, OUTPUTS_MAX, y, to, from, at);
}

/* Returns the patch of the stored outputs that tile `at` computes. */
INLINE struct patch output_patch(int kind, int epilogue, const struct winograd *w, struct walk at)
{
    const int size = axis_outputs(kind) / (epilogue == EPILOGUE_RELU_POOL ? 2 : 1);
    return (struct patch){
        .row = at.row * size, .column = at.column * size, .h = w->stored.h, .w = w->stored.w};
}

INLINE void output_all(int epilogue, enum precision precision, int kind, const struct winograd *w,
                       int n, int b, real *y, uint8_t *from, const real *m, const real *bias,
                       const uint16_t *blank)
{
    int tiles = n * winograd_tiles(w);
    size_t plane = winograd_spread(BLOCK, tiles);
    size_t image_block = (size_t)w->stored.h * (size_t)w->stored.w * BLOCK;
    struct walk at = {0};
    for (int t = 0; t < tiles; t++, walk_next(&at, w), m += BLOCK) {
        size_t to = ((size_t)at.image * (size_t)w->out_blocks + (size_t)b) * image_block;
        for (size_t half = 0; half < BLOCK; half += VECTOR_LANES)
            output_tile(kind, epilogue, precision, value_at(precision, y, to + half),
                        from + to + half, output_patch(kind, epilogue, w, at), m + half, plane,
                        vreal_load(bias + half), kind == WINOGRAD_F4 ? blank[t] : 0);
    }
}

INLINE vreal output_adjoint_tile(int kind, int epilogue, real *dm, size_t plane, const real *stored,
                                 const uint8_t *from, struct patch at)
{
    const int points = axis_points(kind), outputs = axis_outputs(kind);
    vreal half[WINOGRAD_POINTS_MAX][OUTPUTS_MAX], dy[OUTPUTS_MAX * OUTPUTS_MAX], dbias = {0};
    load_gradients(epilogue, outputs, outputs, OUTPUTS_MAX, dy, stored, from, at, &dbias);
#pragma GCC unroll 4
    for (int j = 0; j < outputs; j++) {
        vreal column[OUTPUTS_MAX], out[WINOGRAD_POINTS_MAX];
#pragma GCC unroll 4
        for (int i = 0; i < outputs; i++)
            column[i] = dy[i * OUTPUTS_MAX + j];
        axis_output_adjoint(kind, out, column);
#pragma GCC unroll 6
        for (int i = 0; i < points; i++)
            half[i][j] = out[i];
    }
#pragma GCC unroll 6
    for (int i = 0; i < points; i++) {
        vreal out[WINOGRAD_POINTS_MAX];
        axis_output_adjoint(kind, out, half[i]);
#pragma GCC unroll 6
        for (int j = 0; j < points; j++)
            operand_store(dm + (size_t)(i * points + j) * plane, out[j]);
    }
    return dbias;
}

INLINE void output_adjoint_all(int epilogue, int kind, const struct winograd *w, int n, int image,
                               real *dm, real *dbias, const real *dy, const uint8_t *from)
{
    int tiles = winograd_tiles(w);
    size_t plane = winograd_spread(BLOCK, operand_steps(n * tiles));
    struct walk at = {0};
    vreal sum[2] = {vreal_load(dbias), vreal_load(dbias + VECTOR_LANES)};
    dm += (size_t)(image * tiles) * ROW;
    for (int t = 0; t < tiles; t++, walk_next(&at, w), dm += ROW)
        for (size_t half = 0; half < 2; half++) {
            size_t lane = half * VECTOR_LANES;
            sum[half] += output_adjoint_tile(kind, epilogue, dm + lane / PAIR, plane, dy + lane,
                                             from + lane, output_patch(kind, epilogue, w, at));
        }
    vreal_store(dbias, sum[0]);
    vreal_store(dbias + VECTOR_LANES, sum[1]);
}

/* Cases of a switch over epilogues. Each case calls the given function with the epilogue as a
 * constant first argument. */
#define CASES_OF_EPILOGUE(...)                                                                     \
    CASE_OF(EPILOGUE_NONE, __VA_ARGS__)                                                            \
    CASE_OF(EPILOGUE_RELU, __VA_ARGS__)                                                            \
    CASE_OF(EPILOGUE_RELU_POOL, __VA_ARGS__)

INLINE void input_kind(enum precision precision, const struct winograd *w, int n, real *v,
                       const real *x)
{
    switch ((int)w->kind) {
        CASES_OF_KIND(input_all, precision, w, n, v, x)
    }
}

BY_PRECISION(input_of, w->x_precision, input_kind,
             (const struct winograd *w, int n, real *v, const real *x), w, n, v, x)

static void input(const struct winograd *w, int n, real *v, uint16_t *blank, const real *x)
{
    if (w->kind == WINOGRAD_F4)
        mark_blank(w, n, blank, x);
    input_of(w, n, v, x);
}

static void input_adjoint(const struct winograd *w, int n, int at, real *dx, const real *dv)
{
    switch ((int)w->kind) {
        CASES_OF_KIND(input_adjoint_all, w, n, at, dx, dv)
    }
}

INLINE void output_epilogue(int kind, enum precision precision, const struct winograd *w, int n,
                            int at, real *y, uint8_t *from, const real *m, const real *bias,
                            const uint16_t *blank)
{
    switch (w->epilogue) {
        CASES_OF_EPILOGUE(output_all, precision, kind, w, n, at, y, from, m, bias, blank)
    }
}

INLINE void output_kind(enum precision precision, const struct winograd *w, int n, int at, real *y,
                        uint8_t *from, const real *m, const real *bias, const uint16_t *blank)
{
    switch ((int)w->kind) {
        CASES_OF_KIND(output_epilogue, precision, w, n, at, y, from, m, bias, blank)
    }
}

BY_PRECISION(output, w->y_precision, output_kind,
             (const struct winograd *w, int n, int at, real *y, uint8_t *from, const real *m,
              const real *bias, const uint16_t *blank),
             w, n, at, y, from, m, bias, blank)

INLINE void output_adjoint_kind(int kind, const struct winograd *w, int n, int image, real *dm,
                                real *dbias, const real *dy, const uint8_t *from)
{
    switch (w->epilogue) {
        CASES_OF_EPILOGUE(output_adjoint_all, kind, w, n, image, dm, dbias, dy, from)
    }
}

static void output_adjoint(const struct winograd *w, int n, int image, real *dm, real *dbias,
                           const real *dy, const uint8_t *from)
{
    switch ((int)w->kind) {
        CASES_OF_KIND(output_adjoint_kind, w, n, image, dm, dbias, dy, from)
    }
}

const struct winograd_tiles SIMD_NAME(winograd_tiles) = {
    .block = BLOCK,
    .pair = PAIR,
    .input = input,
    .input_adjoint = input_adjoint,
    .output = output,
    .output_adjoint = output_adjoint,
};
