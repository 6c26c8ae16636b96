/* Fixture for one convolution on blocks of channels: setup, run, plain loops, and the convolutions
 * that tests use. */
#pragma once

#include "kernels/tests/support.h"

#include "kernels/cast16.h"
#include "kernels/ops/winograd.h"

/* Largest relative error of rounding an operand to bf16. */
#define BF16_OFF 0x1p-8

/* One convolution with everything a call needs. */
struct setup {
    struct net_desc desc;
    const struct op_kernel *op;
    const struct layer_desc *conv;
    struct extent read[2];
    struct fused_layers fused;
    struct winograd w;
    int n;
    real *x, *dy, *params;                         /* [N,C,H,W] */
    real *y, *dx, *dparams, *blocked, *blocked_dx; /* results, and x and dx in blocks */
    uint16_t *codes;                               /* x in blocks, as 16-bit values */
    double *bound_y, *bound_dx, *bound_dw;
    void *saved, *scratch;
    struct pool *pool;
    struct exec ex;
};

static inline void setup_begin(struct setup *r, struct shape in, int channels, int pad, int n,
                               enum plan plan, enum isa isa, int threads)
{
    *r = (struct setup){.n = n, .op = plan == PLAN_EXACT ? &op_direct_last : &op_winograd_last};
    begin_net(&r->desc, "one", in, 2);
    add_layer(&r->desc, conv2d_layer(channels, 3, 3, 1, pad));
    r->conv = r->desc.layers;
    r->read[0] = (struct extent){.h = in.h, .w = in.w};
    r->read[1] = (struct extent){.h = r->conv->out.h, .w = r->conv->out.w};
    r->fused = (struct fused_layers){.layers = r->conv,
                                     .n_layers = 1,
                                     .read = r->read,
                                     .plan = plan,
                                     .in = LAYOUT_BLOCKED,
                                     .out = LAYOUT_NCHW,
                                     .isa = isa,
                                     .wants_input = true};
    r->w = winograd_of(&r->fused);
    size_t x = (size_t)n * shape_count(in), y = (size_t)n * shape_count(r->conv->out);
    size_t blocked = (size_t)n * winograd_in(&r->w);
    r->x = random_reals(x, 1);
    r->dy = random_reals(y, 2);
    r->params = random_reals(r->desc.n_params, 3);
    r->y = random_reals(y, 4);
    r->dx = random_reals(x, 5);
    r->dparams = random_reals(r->desc.n_params, 6);
    r->blocked = mem_alloc(blocked * sizeof(real));
    r->blocked_dx = random_reals(blocked, 7);
    r->bound_y = mem_alloc(y * sizeof(double));
    r->bound_dx = mem_alloc(x * sizeof(double));
    r->bound_dw = mem_alloc(r->desc.n_params * sizeof(double));
    r->saved = mem_alloc(r->op->saved_bytes(&r->fused, n));
    r->scratch = mem_alloc(r->op->scratch_bytes(&r->fused, n, threads));
    r->pool = make_pool(threads);
    r->ex = (struct exec){.pool = r->pool, .training = true};
}

static inline const struct cast16 *cast_of(enum precision values)
{
    const struct cast16_functions *f = cast16_get(ISA_PORTABLE);
    return values == PRECISION_fp16 ? &f->fp16 : &f->bf16;
}

/* Makes the op read 16-bit values, and rounds x to them. */
static inline void setup_narrow(struct setup *r, enum precision values)
{
    const struct cast16 *cast = cast_of(values);
    size_t n = (size_t)r->n * shape_count(r->conv->in);
    r->fused.values = values;
    r->w = winograd_of(&r->fused);
    r->codes = mem_alloc((size_t)r->n * winograd_in(&r->w) * sizeof *r->codes);
    cast->encode(r->codes, r->x, n, 1);
    cast->decode(r->x, r->codes, n, 1);
}

/* Returns 16-bit values as a pointer of the type of r->blocked. */
static inline const real *narrow_input(struct setup *r)
{
    cast_of(r->fused.values)->encode(r->codes, r->blocked, (size_t)r->n * winograd_in(&r->w), 1);
    return (const real *)(void *)r->codes;
}

static inline void setup_end(struct setup *r)
{
    void *all[] = {r->codes,    r->x,        r->dy,      r->params,     r->y,
                   r->dx,       r->dparams,  r->blocked, r->blocked_dx, r->bound_y,
                   r->bound_dx, r->bound_dw, r->saved,   r->scratch};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        mem_free(all[i]);
    pool_destroy(r->pool);
    net_desc_free(&r->desc);
}

/* Returns the index of number (i, c, h, w) of x in blocks. */
static inline size_t blocked_at(const struct winograd *w, struct shape in, int i, int c, int row,
                                int column)
{
    size_t block = (size_t)w->block, plane = (size_t)in.h * (size_t)in.w;
    size_t position = (size_t)row * (size_t)in.w + (size_t)column;
    return (((size_t)i * (size_t)w->in_blocks + (size_t)c / block) * plane + position) * block +
           (size_t)c % block;
}

static inline void copy_blocks(struct setup *r, real *planes, real *blocked, bool to_blocks)
{
    struct shape in = r->conv->in;
    for (int i = 0; i < r->n; i++)
        for (int c = 0; c < in.c; c++)
            for (int h = 0; h < in.h; h++)
                for (int w = 0; w < in.w; w++, planes++) {
                    real *at = blocked + blocked_at(&r->w, in, i, c, h, w);
                    if (to_blocks)
                        *at = *planes;
                    else
                        *planes = *at;
                }
}

static inline void setup_run(struct setup *r)
{
    struct op_call call = {.ex = &r->ex,
                           .n = r->n,
                           .x = r->blocked,
                           .y = r->y,
                           .dy = r->dy,
                           .dx = r->blocked_dx,
                           .params = r->params,
                           .dparams = r->dparams,
                           .saved = r->saved,
                           .scratch = r->scratch};
    copy_blocks(r, r->x, r->blocked, true);
    if (r->fused.values != PRECISION_fp32)
        call.x = narrow_input(r);
    r->op->forward(&r->fused, &call);
    r->op->backward(&r->fused, &call);
    copy_blocks(r, r->dx, r->blocked_dx, false);
}

static inline void setup_run_reference(struct setup *r)
{
    const struct layer_kernel *kernel = layer_kernel_get(LAYER_conv2d, PLAN_REFERENCE);
    struct layer_call call = {.ex = &r->ex,
                              .layer = r->conv,
                              .n = r->n,
                              .y = r->y,
                              .x = r->x,
                              .dx = r->dx,
                              .dy = r->dy,
                              .params = r->params,
                              .dparams = r->dparams};
    assert_int_equal(layer_scratch_bytes(kernel, r->conv, r->n, 1), 0);
    kernel->forward(&call);
    kernel->backward(&call);
}

/* Copies a window of `size` by `size` of a plane of h by w, with zeros outside. */
static inline void cut(double *to, int size, const real *plane, int h, int w, int row, int column)
{
    for (int i = 0; i < size; i++)
        for (int j = 0; j < size; j++)
            to[i * size + j] = row + i >= 0 && row + i < h && column + j >= 0 && column + j < w
                                   ? (double)plane[(row + i) * w + column + j]
                                   : 0;
}

struct conv_case {
    struct shape in;
    int channels, pad, n;
    enum winograd_kind kind;
};

static const struct conv_case cases[] = {
    {{1, 3, 3}, 1, 0, 1, WINOGRAD_F2},   {{3, 4, 4}, 5, 0, 7, WINOGRAD_F2},
    {{5, 10, 10}, 3, 0, 3, WINOGRAD_F4}, {{7, 5, 11}, 2, 1, 2, WINOGRAD_F4},
    {{2, 2, 2}, 3, 1, 5, WINOGRAD_T2},   {{33, 2, 2}, 41, 1, 3, WINOGRAD_T2},
    {{2, 7, 3}, 3, 4, 2, WINOGRAD_F4},   {{35, 6, 6}, 17, 1, 4, WINOGRAD_F2},
    {{3, 2, 3}, 2, 2, 13, WINOGRAD_F4},  {{259, 2, 2}, 2, 1, 2, WINOGRAD_T2},
    {{2, 3, 5}, 261, 1, 1, WINOGRAD_F4}, {{2, 4, 4}, 3, 1, 101, WINOGRAD_F4},
};
enum { CASES = sizeof cases / sizeof cases[0] };
