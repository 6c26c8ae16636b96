/* What a plan is made of. An op computes a run of neighbouring layers in one go and owns the
 * layout of the values between them; a kind of op is a row of ops.def that says which runs
 * it takes. The first row that fits wins, and every layer by itself is always possible.
 *
 * Internal to kernels/. */
#pragma once

#include "kernels/base/precision.h"
#include "kernels/layers/layer.h"
#include "kernels/ops/savings.h"

#define BYTE_VALUES  256
#define CHANNELS_MAX 4 /* of an image of bytes */

/* How the values between two ops lie in memory. A family of ops that hands values on in a
 * layout of its own adds it here; its rows match only where one of them follows. */
enum layout {
    LAYOUT_NCHW,    /* real [N,C,H,W]: what layers by themselves take and give */
    LAYOUT_BLOCKED, /* [N,C/block,h,w,block], block two vectors, h and w what is read; `real`, or what
                       the net keeps values in, as many of them in the room of one as there is room for */
    LAYOUT_BYTES,   /* N times uint8_t [C,H,W]: the images as they are loaded; only before the
                       first op */
};

/* The rows and columns of a value, from its top left corner, that a later layer reads: floor
 * pooling drops the rest, and what only feeds dropped outputs is not read either; and the kernel
 * that the layer behind the value was told to use. */
struct extent {
    int h, w;
    enum kernel_choice choice;
};

/* Ops that a choice of kernels selects. */
enum op_family { FAMILY_ANY, FAMILY_WINOGRAD, FAMILY_DIRECT, FAMILY_GEMM };

struct fused_layers {
    const struct layer_desc *layers; /* the first of n_layers */
    int n_layers;
    const struct extent *read; /* read[i]: of the value before layers[i]; read[n_layers]: after */
    enum plan plan;
    enum kernel_choice choice; /* of the first layer */
    enum isa isa;
    enum layout in, out;   /* the op's */
    enum precision values; /* of the net's values in blocks, and of what ops keep of them */
    bool wants_input;      /* a layer before has parameters: dx is wanted */
    const real (*byte_value)[BYTE_VALUES]; /* [C][256]: what a byte of the images stands for */
};

static inline const struct layer_desc *fused_last(const struct fused_layers *fused)
{
    return &fused->layers[fused->n_layers - 1];
}

/* Of an op's values that lie so. Gradients by them have a number each. */
static inline enum precision values_precision(const struct fused_layers *fused, enum layout layout)
{
    return layout == LAYOUT_BLOCKED ? fused->values : PRECISION_fp32;
}

/* The first of the layers that is of this kind, or NULL. */
static inline const struct layer_desc *fused_find(const struct fused_layers *fused,
                                                  enum layer_kind kind)
{
    for (int i = 0; i < fused->n_layers; i++)
        if (fused->layers[i].kind == kind)
            return &fused->layers[i];
    return NULL;
}

/* One call on the n images of a slot. The input layout says which of x and image is given.
 * What forward leaves in y and saved, backward of the same images finds again; scratch holds
 * nothing between calls. params and dparams point to the op's first tensor. dx is NULL where
 * it is not wanted. */
struct op_call {
    const struct exec *ex;
    int n;
    const uint8_t *const *image; /* [n], each [C,H,W], anywhere in memory */
    const real *x;
    real *y;
    const real *dy;
    real *dx;
    const real *params;
    real *dparams;
    void *saved, *scratch;
};

/* The call of a layer that is an op by itself. */
static inline struct layer_call layer_call_of(const struct fused_layers *fused,
                                              const struct op_call *c)
{
    return (struct layer_call){.ex = c->ex,
                               .layer = fused->layers,
                               .n = c->n,
                               .y = c->y,
                               .x = c->x,
                               .dx = c->dx,
                               .dy = c->dy,
                               .params = c->params,
                               .dparams = c->dparams,
                               .saved = c->saved,
                               .scratch = c->scratch};
}

/* Images lie anywhere in a data set that no cache holds. An op that takes them one after the other
 * prefetches one this far ahead into the second-level cache while it computes. */
#define IMAGES_AHEAD 8

static inline void op_prefetch_image(const struct op_call *call, size_t i, size_t image_bytes)
{
    enum { LINE = 64 };
    if (i >= (size_t)call->n)
        return;
    for (size_t at = 0; at < image_bytes; at += LINE)
        __builtin_prefetch(call->image[i] + at, 0, 2);
}

struct op_kernel {
    const char *name;
    enum layout in, out;
    bool takes_bf16; /* it rounds what it multiplies where the instruction set is one that does */
    bool needs_bf16; /* it is there for such a set alone */
    /* How many of the n layers from `layers` on it takes, 0 if none; `read` is that of struct
     * fused_layers. */
    int (*match)(const struct layer_desc *layers, int n, const struct extent *read);
    /* Numbers of the output of n images in the op's layout; NULL: those of its shape. */
    size_t (*out_reals)(const struct fused_layers *fused, int n);
    size_t (*saved_bytes)(const struct fused_layers *fused, int n);
    size_t (*scratch_bytes)(const struct fused_layers *fused, int n, int threads);
    void (*forward)(const struct fused_layers *fused, const struct op_call *call);
    void (*backward)(const struct fused_layers *fused, const struct op_call *call);
    /* FLOPs an image that are really done; NULL: those of the layers as written. */
    uint64_t (*flops_forward)(const struct fused_layers *fused);
    uint64_t (*flops_backward)(const struct fused_layers *fused);
    /* Bits of enum saving; NULL: it leaves nothing out. */
    unsigned (*savings)(const struct fused_layers *fused);
};

/* SAVING_dead_outputs where the convolution or pooling that comes first is computed for h x w
 * outputs and has more, else 0. */
static inline unsigned saving_of_dead_outputs(const struct fused_layers *fused, int h, int w)
{
    bool all = h >= fused->layers->out.h && w >= fused->layers->out.w;
    return all ? 0 : SAVING_BIT(SAVING_dead_outputs);
}

/* The pooling that convolutions take along. */
static inline bool is_pool2x2(const struct layer_desc *l)
{
    return l->kind == LAYER_maxpool2d && l->kernel_h == 2 && l->kernel_w == 2 && l->stride_h == 2 &&
           l->stride_w == 2 && l->pad_h == 0 && l->pad_w == 0;
}

/* Defines an op whose file has saved_bytes, scratch_bytes, forward and backward of these names; what
 * follows `match_` are further fields. */
#define OP_KERNEL(name_, in_, out_, match_, ...)                                                   \
    const struct op_kernel op_##name_ = {                                                          \
        .name = #name_,                                                                            \
        .in = in_,                                                                                 \
        .out = out_,                                                                               \
        .match = match_,                                                                           \
        .saved_bytes = saved_bytes,                                                                \
        .scratch_bytes = scratch_bytes,                                                            \
        .forward = forward,                                                                        \
        .backward = backward,                                                                      \
        __VA_ARGS__,                                                                               \
    }

#define OP(name, plans, family, summary) extern const struct op_kernel op_##name;
#include "kernels/ops/ops.def"

/* The first row of ops.def for this plan and instruction set that takes a run of layers from layers[0] on whose input
 * lies in layout `in`, of the family that read[0].choice names if there is one; its length is left in
 * *taken. */
const struct op_kernel *op_find(enum plan plan, enum isa isa, enum layout in,
                                const struct layer_desc *layers, int n, const struct extent *read,
                                int *taken);

/* The choice that an op of this kind follows: `asked`, or none if that is of another family. */
enum kernel_choice op_choice(const struct op_kernel *kernel, enum kernel_choice asked);

/* Fills read[0..n]: read[n] is all of the output, the others follow backwards. */
void plan_read_extents(const struct layer_desc *layers, int n, struct extent *read);
