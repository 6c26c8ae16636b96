/* Ops, the units of a plan. An op computes one or several consecutive layers, and defines the
 * layouts of its input and output. Each kind of op is a row of ops.def, and matches certain
 * sequences of layers (op_find).
 *
 * Internal to kernels/. */
#pragma once

#include "kernels/base/precision.h"
#include "kernels/layers/layer.h"
#include "kernels/ops/savings.h"

#define BYTE_VALUES  256
#define CHANNELS_MAX 4 /* largest number of channels in an image of bytes */

/* Memory layouts of the activations between two ops. An op's `match` must reject layers if the next
 * op cannot read the layout of this op's output. */
enum layout {
    LAYOUT_NCHW, /* real [N,C,H,W], the layout of single layers */
    /* [N,C/block,h,w,block]. `block` is the number of elements of type `real` in two vectors. h and
     * w count only the rows and columns that are read. Numbers have the precision of the net's
     * activations; two 16-bit numbers share one `real`. */
    LAYOUT_BLOCKED,
    /* the images as loaded: N pointers to uint8_t [C,H,W]; only before the first op */
    LAYOUT_BYTES,
};

/* Part of an activation that later layers read: h rows and w columns from the top left. Pooling
 * that rounds down skips the rest. `choice`: kernel chosen for the layer that reads the
 * activation. */
struct extent {
    int h, w;
    enum kernel_choice choice;
};

/* Families of ops. A kernel choice prefers ops of one family; if none of them fits the layers, any
 * op may be used. FAMILY_ANY: a choice without preference, or an op of no family. */
enum op_family { FAMILY_ANY, FAMILY_WINOGRAD, FAMILY_DIRECT, FAMILY_GEMM };

struct fused_layers {
    const struct layer_desc *layers; /* [n_layers] the op's layers */
    int n_layers;
    const struct extent *read; /* [n_layers + 1] area of each layer's input that is read. The last
                                  element is the area of the op's output that is read */
    enum plan plan;
    enum kernel_choice choice; /* kernel choice that the op implements: see op_choice */
    enum isa isa;
    enum layout in, out;                   /* layouts of the op's input and output */
    enum precision values;                 /* precision of activations in LAYOUT_BLOCKED and of
                                            * batch norm's saved input */
    bool wants_input;                      /* whether dx is needed, because an earlier layer has
                                            * parameters */
    const real (*byte_value)[BYTE_VALUES]; /* [C][256] number (byte/255 - mean)/std for each byte
                                            * value */
};

static inline const struct layer_desc *fused_last(const struct fused_layers *fused)
{
    return &fused->layers[fused->n_layers - 1];
}

/* Returns the precision of an op's activations in a layout. Gradients are always fp32. */
static inline enum precision values_precision(const struct fused_layers *fused, enum layout layout)
{
    return layout == LAYOUT_BLOCKED ? fused->values : PRECISION_fp32;
}

/* Returns the op's first layer of this kind, or NULL. */
static inline const struct layer_desc *fused_find(const struct fused_layers *fused,
                                                  enum layer_kind kind)
{
    for (int i = 0; i < fused->n_layers; i++)
        if (fused->layers[i].kind == kind)
            return &fused->layers[i];
    return NULL;
}

/* Arguments of one call on n images. The input layout determines whether `x` or `image` is read.
 * Backward gets `y` and `saved` as forward wrote them for the same images. `scratch` need not be
 * preserved. `params` and `dparams` point to the op's first tensor. `dx` is NULL if not needed. */
struct op_call {
    const struct exec *ex;
    int n;
    const uint8_t *const *image; /* [n] pointers to images [C,H,W], which need not be contiguous */
    const real *x;
    real *y;
    const real *dy;
    real *dx;
    const real *params;
    real *dparams;
    void *saved, *scratch;
};

/* Returns the struct layer_call for an op that consists of one layer. */
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

/* Prefetches memory into the second-level cache. The empty assembly statement keeps the loop, since
 * GCC 12 removes loops that only prefetch. */
static inline void op_prefetch(const void *from, size_t bytes)
{
    enum { LINE = 64 };
    for (size_t at = 0; at < bytes; at += LINE) {
        __builtin_prefetch((const char *)from + at, 0, 2);
        __asm__ volatile("");
    }
}

/* Prefetch distance in images. The images of a batch are scattered over a data set that is larger
 * than the caches. */
#define IMAGES_AHEAD 8

static inline void op_prefetch_image(const struct op_call *call, size_t i, size_t image_bytes)
{
    if (i < (size_t)call->n)
        op_prefetch(call->image[i], image_bytes);
}

struct op_kernel {
    const char *name;
    enum layout in, out;
    bool takes_bf16; /* whether operands become bf16 if the instruction set has bf16 products */
    bool needs_wide; /* whether the op is not used with ISA_PORTABLE, where BLIS is faster */
    /* Returns how many of the n layers, from layers[0] on, the op computes; 0: no match. read[i]:
     * part of layer i's input that is read. read[n]: part of the last layer's output that is
     * read. */
    int (*match)(const struct layer_desc *layers, int n, const struct extent *read);
    /* Returns the size in reals of the op's output for n images. NULL: n times the size of the
     * output shape. */
    size_t (*out_reals)(const struct fused_layers *fused, int n);
    size_t (*saved_bytes)(const struct fused_layers *fused, int n);
    size_t (*scratch_bytes)(const struct fused_layers *fused, int n, int threads);
    void (*forward)(const struct fused_layers *fused, const struct op_call *call);
    void (*backward)(const struct fused_layers *fused, const struct op_call *call);
    /* FLOPs that the op computes per image in forward and in backward. NULL: the sum over the op's
     * layers, from their descriptions. */
    uint64_t (*flops_forward)(const struct fused_layers *fused);
    uint64_t (*flops_backward)(const struct fused_layers *fused);
    /* Returns a bit mask (enum saving) of the work that the op skips or does in a cheaper way.
     * NULL: none. */
    unsigned (*savings)(const struct fused_layers *fused);
};

/* Returns the bit of SAVING_dead_outputs if the op computes fewer rows (h) or columns (w) of
 * outputs than the first layer has, else 0. */
static inline unsigned saving_of_dead_outputs(const struct fused_layers *fused, int h, int w)
{
    bool all = h >= fused->layers->out.h && w >= fused->layers->out.w;
    return all ? 0 : SAVING_BIT(SAVING_dead_outputs);
}

/* Returns whether a layer is 2x2 max pooling that convolution ops can fuse. */
static inline bool is_pool2x2(const struct layer_desc *l)
{
    return l->kind == LAYER_maxpool2d && l->kernel_h == 2 && l->kernel_w == 2 && l->stride_h == 2 &&
           l->stride_w == 2 && l->pad_h == 0 && l->pad_w == 0;
}

/* Defines an op from the functions saved_bytes, scratch_bytes, forward and backward of the file
 * that uses the macro. Arguments after `match_` initialise further members. */
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

/* Returns the first row of ops.def that matches the layers from layers[0] on, for this plan,
 * instruction set and input layout. Prefers rows of the family that read[0].choice selects. NULL:
 * no match. *taken: number of layers matched. */
const struct op_kernel *op_find(enum plan plan, enum isa isa, enum layout in,
                                const struct layer_desc *layers, int n, const struct extent *read,
                                int *taken);

/* Returns the kernel choice that this op implements: `asked` if `asked` selects the op's family,
 * CHOICE_direct for direct sums, else CHOICE_shape. */
enum kernel_choice op_choice(const struct op_kernel *kernel, enum kernel_choice asked);

/* Sets read[i], i < n, to the area of layer i's input that is read, and read[n] to the whole
 * output. */
void plan_read_extents(const struct layer_desc *layers, int n, struct extent *read);
