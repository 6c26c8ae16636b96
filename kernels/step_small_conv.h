/* What the two passes of step_small_conv.c share. Internal to kernels/. */
#ifndef SCALEBENCH_KERNELS_STEP_SMALL_CONV_H
#define SCALEBENCH_KERNELS_STEP_SMALL_CONV_H

#include "kernels/layer_tables.h"
#include "kernels/simd/small_conv.h"
#include "kernels/step.h"

static inline size_t taps_of(const struct small_conv *c)
{
    return c->kernel * c->kernel;
}

static inline size_t weights_of(const struct small_conv *c)
{
    return c->out_c * c->in_c * taps_of(c);
}

static inline size_t image_reals(const struct small_conv *c)
{
    return c->in_c * c->in_h * c->in_w;
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
    uint16_t *ink;                  /* [N,vectors], of images of bytes while training */
    uint16_t *kept;                 /* [N,out_c]: the channels dropout2d left */
    uint16_t *n_kept;               /* [N] */
};

struct small_conv_call {
    const struct step_call *step;
    const struct stretch *stretch;
    const struct layer_desc *dropout; /* NULL if there is none */
    struct small_conv c;
    struct saved saved;
    bool bytes;                                    /* images come as they are loaded */
    real scale[CHANNELS_MAX], shift[CHANNELS_MAX]; /* what a byte stands for, a channel */
    const real *weights, *bias;                    /* with scale and shift in them */
    const real *turned; /* weights [out_c][lanes_c / PAD][kernel^2][PAD] */
    const struct small_conv_forward_functions *forward;
    const struct small_conv_backward_functions *backward;
    /* Of the first thread; the others' follow at a distance of `stride` bytes. */
    real *space; /* [in_c,in_h,in_w] and 2 vectors: an image */
    struct small_conv_forward_work forward_work;
    struct small_conv_backward_work backward_work;
    size_t stride;
};

static inline void small_conv_ask_for(const void *from, size_t bytes)
{
    enum { LINE = 64 };
    for (size_t at = 0; at < bytes; at += LINE)
        __builtin_prefetch((const char *)from + at, 0, 2);
}

static inline void *take(struct pieces *p, size_t bytes)
{
    void *piece = p->base ? p->base + p->used : NULL;
    p->used += (bytes + 63) / 64 * 64;
    return piece;
}

/* The numbers of an image: where they lie, or in `space` where they must be made or a vector might
 * read beyond the last of them. */
const real *small_conv_image(const struct small_conv_call *call, real *space, size_t image);

/* Images between two polls. */
size_t small_conv_block(const struct small_conv_call *call);

/* Lays out the scratch of a backward pass, and fills what threads share if there is a base. Returns
 * its size. */
size_t small_conv_prepare_backward(struct small_conv_call *call, int threads, void *base);
void small_conv_backward_pass(struct small_conv_call *call);

#endif
