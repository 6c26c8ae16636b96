/* What a plan is made of. A step computes a stretch of neighbouring layers in one go and owns the
 * layout of the values between them; a kind of step is a row of steps.def that says which stretches
 * it takes. The first row that fits wins, and every layer by itself is always possible.
 *
 * Internal to kernels/. */
#ifndef SCALEBENCH_KERNELS_OPS_OP_H
#define SCALEBENCH_KERNELS_OPS_OP_H

#include "kernels/layers/layer.h"
#include "kernels/ops/savings.h"

#define BYTE_VALUES  256
#define CHANNELS_MAX 4 /* of an image of bytes */

/* How the values between two steps lie in memory. A family of steps that hands values on in a
 * layout of its own adds it here; its rows match only where one of them follows. */
enum layout {
    LAYOUT_NCHW,    /* real [N,C,H,W]: what layers by themselves take and give */
    LAYOUT_BLOCKED, /* real [N,C/block,h,w,block], block two vectors, h and w what is read */
    LAYOUT_BYTES,   /* N times uint8_t [C,H,W]: the images as they are loaded; only before the
                       first step */
};

/* The rows and columns of a value, from its top left corner, that a later layer reads: floor
 * pooling drops the rest, and what only feeds dropped outputs is not read either; and the kernel
 * that the layer behind the value was told to use. */
struct extent {
    int h, w;
    enum kernel_choice choice;
};

/* Kinds of steps that a choice asks for. */
enum step_family { FAMILY_ANY, FAMILY_WINOGRAD, FAMILY_DIRECT, FAMILY_GEMM };

struct stretch {
    const struct layer_desc *layers; /* the first of n_layers */
    int n_layers;
    const struct extent *read; /* read[i]: of the value before layers[i]; read[n_layers]: after */
    enum plan plan;
    enum kernel_choice choice; /* of the first layer */
    enum isa isa;
    enum layout in, out;                   /* the step's */
    bool wants_input;                      /* someone before has parameters: dx is asked for */
    const real (*byte_value)[BYTE_VALUES]; /* [C][256]: what a byte of the images stands for */
};

static inline const struct layer_desc *stretch_last(const struct stretch *s)
{
    return &s->layers[s->n_layers - 1];
}

/* One call on the n images of a slot. Of x and image the one is given that the input layout says.
 * What forward leaves in y and saved, backward of the same images finds again; scratch holds
 * nothing between calls. params and dparams point to the stretch's first tensor. dx is NULL when
 * nobody wants it. */
struct step_call {
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

/* Images lie anywhere in a data set that no cache holds. A step that takes them one after the other
 * asks the second-level cache for one this far ahead while it computes. */
#define IMAGES_AHEAD 8

static inline void step_ask_for_image(const struct step_call *call, size_t i, size_t image_bytes)
{
    enum { LINE = 64 };
    if (i >= (size_t)call->n)
        return;
    for (size_t at = 0; at < image_bytes; at += LINE)
        __builtin_prefetch(call->image[i] + at, 0, 2);
}

struct step_kernel {
    const char *name;
    enum layout in, out;
    /* How many of the n layers from `layers` on it takes, 0 if none; `read` as in a stretch. */
    int (*match)(const struct layer_desc *layers, int n, const struct extent *read);
    /* Numbers of the output of n images in the step's layout; NULL: those of its shape. */
    size_t (*out_reals)(const struct stretch *s, int n);
    size_t (*saved_bytes)(const struct stretch *s, int n);
    size_t (*scratch_bytes)(const struct stretch *s, int n, int threads);
    void (*forward)(const struct stretch *s, const struct step_call *call);
    void (*backward)(const struct stretch *s, const struct step_call *call);
    /* FLOPs an image that are really done; NULL: those of the layers as written. */
    uint64_t (*flops_forward)(const struct stretch *s);
    uint64_t (*flops_backward)(const struct stretch *s);
    /* Bits of enum saving; NULL: it leaves nothing out. */
    unsigned (*savings)(const struct stretch *s);
};

/* SAVING_dead_outputs where the convolution or pooling that the stretch begins with is computed for
 * h x w outputs and has more, else 0. */
static inline unsigned saving_of_dead_outputs(const struct stretch *s, int h, int w)
{
    bool all = h >= s->layers->out.h && w >= s->layers->out.w;
    return all ? 0 : SAVING_BIT(SAVING_dead_outputs);
}

#define STEP(name, plans, family, summary) extern const struct step_kernel step_##name;
#include "kernels/ops/ops.def"
#undef STEP

/* The first row of steps.def for this plan that takes a stretch beginning at layers[0] whose input
 * lies in layout `in`, of the family that read[0] asks for if there is one; its length is left in
 * *taken. */
const struct step_kernel *step_find(enum plan plan, enum layout in, const struct layer_desc *layers,
                                    int n, const struct extent *read, int *taken);

/* The choice that a step of this kind follows, `asked` or none if it is of another family. */
enum kernel_choice step_choice(const struct step_kernel *kernel, enum kernel_choice asked);

/* Fills read[0..n]: read[n] is all of the output, the others follow backwards. */
void plan_read_extents(const struct layer_desc *layers, int n, struct extent *read);

#endif
