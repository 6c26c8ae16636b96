/* Interface between op_small_conv.c, the op of small convolutions, and the files that compute
 * forward and backward of each convolution. Internal to kernels/. */
#pragma once

#include "kernels/layers/layer_tables.h"
#include "kernels/ops/op.h"
#include "kernels/simd/small_conv/small_conv.h"

#define SMALL_CONV_CHANNELS_MAX 128 /* largest number of output channels */
/* Images per group. All convolutions are computed for one group before the next. Activations
 * between convolutions thus stay in the second-level cache, and their gradients exist for one group
 * only. */
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

/* Bump allocator of aligned pieces. If base = NULL, it only adds up their sizes. */
struct pieces {
    char *base;
    size_t used;
};

/* Data that forward saves for backward, besides y. */
struct saved {
    real *scale;                    /* factor that dropout2d applies to the channels it keeps */
    struct small_conv_marks *marks; /* [N,out_c,vectors] position of each pooling window's maximum,
                                       and whether the window has a gradient (with ReLU, only if the
                                       maximum is positive) */
    uint16_t *nonzero;              /* [N,vectors] one bit per pooling window, set if the window has
                                     * nonzero bytes; only in training on images of bytes */
    uint16_t *kept;                 /* [N,out_c] list of the channels that dropout2d keeps */
    uint16_t *n_kept;               /* [N] number of channels that dropout2d keeps (without it,
                                       all) */
};

struct small_conv_call {
    const struct op_call *op;
    const struct fused_layers *fused;
    const struct layer_desc *dropout; /* the fused dropout2d layer; NULL: none */
    struct small_conv c;
    struct saved saved;
    bool inside;                                   /* whether the input is the output of another
                                                    * convolution of this op */
    bool bytes;                                    /* whether the input is images of bytes */
    real scale[CHANNELS_MAX], shift[CHANNELS_MAX]; /* per input channel: number = scale * byte +
                                                    * shift */
    const real *weights, *bias;                    /* parameters; for images of bytes, with scale
                                                    * and shift folded in */
    const real *points;                            /* weights transformed by Winograd's algorithm */
    const real *transposed; /* [out_c][lanes_c / PAD][kernel^2][PAD] transposed weights; lanes_c:
                               in_c rounded up to a multiple of PAD */
    const struct small_conv_forward_functions *forward;
    const struct small_conv_winograd_functions *winograd; /* functions of Winograd's algorithm;
                                                           * NULL: direct sums */
    const struct small_conv_backward_functions *backward;
    /* Work memory of thread 0: `space`, forward_work, backward_work, group_dx. The work memory of
     * thread t begins t * `stride` bytes later. */
    real *space; /* one image [in_c,in_h,in_w], then padding of 2 vectors */
    struct small_conv_forward_work forward_work;
    struct small_conv_backward_work backward_work;
    real *group_dx; /* [GROUP,in_c,in_h,in_w] gradient of x for a group of images; only if `inside`
                       (x is the output of another convolution of this op) */
    size_t stride;
};

static inline void *take(struct pieces *p, size_t bytes)
{
    void *piece = p->base != NULL ? p->base + p->used : NULL;
    p->used += (bytes + 63) / 64 * 64;
    return piece;
}

/* Returns whether to use Winograd's algorithm: only for 5x5 kernels and more than CHANNELS_MAX
 * input channels. With few channels, direct sums are faster, since transforming Winograd's sums
 * back costs the same for any number of channels. */
static inline bool small_conv_takes_winograd(const struct small_conv *c)
{
    return c->kernel == 5 && c->in_c > CHANNELS_MAX;
}

/* Returns an image as reals: a pointer into x, or a copy in `space` if the image is bytes or a
 * vector load could reach beyond the end of x. */
const real *small_conv_image(const struct small_conv_call *call, real *space, size_t image);

/* Returns the number of layers, at most n, that form one small convolution; 0: none. They are
 * conv2d, optional dropout2d, then maxpool2d with optional ReLU directly before or after it. */
int small_conv_match_part(const struct layer_desc *layers, int n);
struct small_conv small_conv_shape(const struct fused_layers *fused);
/* Lays out the data that forward saves for n images. If `base` is NULL, only computes the size.
 * Returns the size in bytes. */
size_t small_conv_place_saved(struct saved *saved, const struct small_conv *c, size_t n,
                              void *base);
/* Returns the call of one convolution. `fused` and `op` describe only this convolution, and are
 * borrowed. */
struct small_conv_call small_conv_call_of(const struct fused_layers *fused,
                                          const struct op_call *op);
uint64_t small_conv_part_flops_forward(const struct fused_layers *fused);
/* Returns an upper bound of the expected FLOPs per image in backward. Each pooled output counts the
 * products of its receptive field once for dw and, if dx is needed, once more for dx. Gradients
 * that ReLU sets to 0 need no products, so the exact number depends on the images. */
uint64_t small_conv_part_flops_backward(const struct fused_layers *fused);
unsigned small_conv_part_savings(const struct fused_layers *fused);

/* Lay out the scratch of forward or backward and return its size. Unless `base` is NULL, these
 * functions also fill the data shared by all threads. */
size_t small_conv_prepare_forward(struct small_conv_call *call, int threads, void *base);
size_t small_conv_prepare_backward(struct small_conv_call *call, int threads, void *base);

void small_conv_forward_images(const struct small_conv_call *call, size_t begin, size_t end,
                               int thread);
/* Adds the gradients of the parameters over images [begin, end) to the thread's sums, and writes dx
 * unless it is NULL. dy and dx begin at image `begin`. */
void small_conv_backward_images(const struct small_conv_call *call, size_t begin, size_t end,
                                int thread, real *dx, const real *dy);
real *small_conv_group_dx(const struct small_conv_call *call, int thread);

/* small_conv_clear_sums clears the sums of all threads before backward. After backward,
 * small_conv_add_sums writes their total, in thread order, to dparams (+=, if ex->accumulate). */
void small_conv_clear_sums(const struct small_conv_call *call);
void small_conv_add_sums(const struct small_conv_call *call);
