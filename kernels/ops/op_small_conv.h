/* What an op of small convolutions and the passes of one of them share. Internal to kernels/. */
#pragma once

#include "kernels/layers/layer_tables.h"
#include "kernels/ops/op.h"
#include "kernels/simd/small_conv.h"

#define SMALL_CONV_CHANNELS_MAX 128 /* of the output */
/* Images that pass through all convolutions before the next ones: what lies between stays in the
 * second-level cache, and of its gradient nothing else is ever there. */
#define SMALL_CONV_GROUP 32

static inline size_t taps_of(const struct small_conv *c)
{
    return c->kernel * c->kernel;
}

static inline size_t weights_of(const struct small_conv *c)
{
    return c->out_c * c->in_c * taps_of(c);
}

static inline size_t points_of(const struct small_conv *c)
{
    return c->out_c * c->in_c * c->kernel * SMALL_CONV_POINTS;
}

static inline size_t image_reals(const struct small_conv *c)
{
    return c->in_c * c->in_h * c->in_w;
}

static inline size_t pooled_reals(const struct small_conv *c)
{
    return c->out_c * c->pooled_h * c->pooled_w;
}

/* Memory cut into aligned pieces; without a base it is only measured. */
struct pieces {
    char *base;
    size_t used;
};

/* What forward leaves for backward besides y. */
struct saved {
    real *scale;                    /* of what dropout2d left */
    struct small_conv_marks *marks; /* [N,out_c,vectors] */
    uint16_t *nonzero;              /* [N,vectors], of images of bytes while training */
    uint16_t *kept;                 /* [N,out_c]: the channels dropout2d left */
    uint16_t *n_kept;               /* [N] */
};

struct small_conv_call {
    const struct op_call *op;
    const struct fused_layers *fused;
    const struct layer_desc *dropout; /* NULL if there is none */
    struct small_conv c;
    struct saved saved;
    bool inside; /* another convolution of the same op stands before it */
    bool bytes;  /* images come as they are loaded */
    real scale[CHANNELS_MAX], shift[CHANNELS_MAX]; /* what a byte stands for, a channel */
    const real *weights, *bias;                    /* with scale and shift in them */
    const real *points;                            /* what Winograd's algorithm makes of weights */
    const real *transposed; /* weights [out_c][lanes_c / PAD][kernel^2][PAD] */
    const struct small_conv_forward_functions *forward;
    const struct small_conv_winograd_functions *winograd; /* NULL where it would not be faster */
    const struct small_conv_backward_functions *backward;
    /* Of the first thread; the others' follow at a distance of `stride` bytes. */
    real *space; /* [in_c,in_h,in_w] and 2 vectors: an image */
    struct small_conv_forward_work forward_work;
    struct small_conv_backward_work backward_work;
    real *group_dx; /* [GROUP,in_c,in_h,in_w], where the gradient of x leaves by no other way */
    size_t stride;
};

static inline void small_conv_prefetch(const void *from, size_t bytes)
{
    enum { LINE = 64 };
    for (size_t at = 0; at < bytes; at += LINE)
        __builtin_prefetch((const char *)from + at, 0, 2);
}

static inline void *take(struct pieces *p, size_t bytes)
{
    void *piece = p->base != NULL ? p->base + p->used : NULL;
    p->used += (bytes + 63) / 64 * 64;
    return piece;
}

/* Turning sums back costs as much for the few channels of an image of bytes as for many. */
static inline bool small_conv_takes_winograd(const struct small_conv *c)
{
    return c->kernel == 5 && c->in_c > CHANNELS_MAX;
}

/* The numbers of an image: where they lie, or in `space` where they must be made or a vector might
 * read beyond the last of them. */
const real *small_conv_image(const struct small_conv_call *call, real *space, size_t image);

/* How many of n layers one convolution takes, 0 if none: conv2d, dropout2d or not, and then
 * maxpool2d with ReLU before it, after it or not at all. */
int small_conv_match_part(const struct layer_desc *layers, int n);
struct small_conv small_conv_shape(const struct fused_layers *fused);
/* Lays out what forward of n images leaves, only measured without a base. Returns its size. */
size_t small_conv_place_saved(struct saved *saved, const struct small_conv *c, size_t n,
                              void *base);
/* fused and op are of this convolution alone, and borrowed. */
struct small_conv_call small_conv_call_of(const struct fused_layers *fused,
                                          const struct op_call *op);
uint64_t small_conv_part_flops_forward(const struct fused_layers *fused);
/* Two windows, or one in the first layer, for every pooled output, at most: which ones ReLU stops
 * depends on the images. */
uint64_t small_conv_part_flops_backward(const struct fused_layers *fused);
unsigned small_conv_part_savings(const struct fused_layers *fused);

/* Lay out the scratch of a pass, and fill what threads share if there is a base. They return its
 * size. */
size_t small_conv_prepare_forward(struct small_conv_call *call, int threads, void *base);
size_t small_conv_prepare_backward(struct small_conv_call *call, int threads, void *base);

/* Images [begin, end), by one thread. */
void small_conv_forward_images(const struct small_conv_call *call, size_t begin, size_t end,
                               int thread);
/* Adds to the thread's sums. dy and dx (NULL: not asked for) are those of image `begin` and the
 * following ones. */
void small_conv_backward_images(const struct small_conv_call *call, size_t begin, size_t end,
                                int thread, real *dx, const real *dy);
real *small_conv_group_dx(const struct small_conv_call *call, int thread);

/* Before and after backward of all images: dparams gets the sums of all threads, in their order. */
void small_conv_clear_sums(const struct small_conv_call *call);
void small_conv_add_sums(const struct small_conv_call *call);
