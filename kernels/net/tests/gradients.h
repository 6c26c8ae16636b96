/* One training step of a net of configs/models on generated images. test_gradients compares it with
 * double precision, and with PyTorch on the same weights and images. */
#pragma once

#include "kernels/tests/support.h"

#include <stdlib.h>

#include "bench/spec/spec.h"
#include "kernels/layers/loss.h"

enum { SEEDS = 3 };

/* PLAIN: no dropout, because PyTorch has other masks. DROPOUT: the net's own dropout. BLANK: biases
 * of 0 and images with blank areas, the first image entirely blank. Exact zeros then reach ReLU and
 * pooling: PyTorch's ReLU has gradient 0 there, its pooling chooses the first of equals. */
enum gradient_kind { GRADIENT_PLAIN, GRADIENT_DROPOUT, GRADIENT_BLANK };

struct gradient_case {
    const char *net;
    int images;
    double bound; /* float bound: error of a tensor's gradient / its norm */
    enum gradient_kind kind;
    uint64_t seed[SEEDS]; /* seeds of weights and images, up to a 0 */
};

struct gradient_input {
    struct gradient_case about;
    uint64_t seed;
    struct net_desc desc;
    real *params, *buffers;
    uint8_t *images, *labels; /* [N,C,H,W] images, [N] labels */
    uint32_t *samples;        /* [N] sample numbers */
};

enum { STREAM_BOXES = 90, STREAM_NOISE, STREAM_LABELS, STREAM_BIASES };

/* Draws five boxes of random brightness on black or on dark noise: edges and flat parts, as in real
 * images. */
static inline void draw_image(uint8_t *image, struct shape s, uint64_t seed, uint32_t number,
                              bool noise)
{
    for (uint32_t i = 0; i < shape_count(s); i++)
        image[i] = noise ? (uint8_t)(rng_word(seed, STREAM_NOISE, 0, number, i) >> 26) : 0;
    for (uint32_t box = 0; box < 5; box++) {
        uint32_t w[8];
        rng_words4(w, seed, STREAM_BOXES, 0, number, 2 * box);
        rng_words4(w + 4, seed, STREAM_BOXES, 0, number, 2 * box + 1);
        int top = (int)(w[0] % (uint32_t)s.h), left = (int)(w[1] % (uint32_t)s.w);
        int bottom = top + 1 + (int)(w[2] % 12), right = left + 1 + (int)(w[3] % 12);
        for (int c = 0; c < s.c; c++)
            for (int y = top; y < bottom && y < s.h; y++)
                for (int x = left; x < right && x < s.w; x++)
                    image[(c * s.h + y) * s.w + x] += (uint8_t)(w[4 + c % 4] >> 24);
    }
}

/* Returns whether a net has kinks. A flat area may be 0 before ReLU, or equal all over a pooling
 * window. Rounding then decides its gradient, unless the area is blank. Images of such nets get
 * noise, and biases that would start at 0 are drawn at random. */
static inline bool net_has_kinks(const struct net_desc *desc)
{
    for (int i = 0; i < desc->n_layers; i++)
        if (desc->layers[i].kind == LAYER_relu || desc->layers[i].kind == LAYER_maxpool2d)
            return true;
    return false;
}

static inline void draw_biases(const struct net_desc *desc, real *params, uint64_t seed)
{
    for (int t = 0; t < desc->n_tensors; t++) {
        const struct tensor_desc *tensor = &desc->tensors[t];
        for (uint32_t i = 0; tensor->bias && i < tensor->count; i++)
            params[tensor->offset + i] =
                (float)(rng_unit(rng_word(seed, STREAM_BIASES, 0, (uint32_t)t, i)) / 8 - 1.0 / 16);
    }
}

static inline void *allocate(size_t bytes)
{
    void *p = mem_alloc(bytes > 0 ? bytes : 1);
    assert_non_null(p);
    return p;
}

static inline void gradient_input_make(struct gradient_input *in, struct gradient_case about,
                                       uint64_t seed)
{
    struct error e = {0};
    *in = (struct gradient_input){.about = about, .seed = seed};
    if (model_load(&in->desc, about.net, &e) != OK)
        fail_msg("%s", e.text);
    for (int i = 0; i < in->desc.n_layers && about.kind != GRADIENT_DROPOUT; i++)
        in->desc.layers[i].rate = 0;
    size_t n = (size_t)about.images, image = shape_count(in->desc.input);
    in->params = allocate(in->desc.n_params * sizeof(real));
    in->buffers = allocate(in->desc.n_buffer_values * sizeof(real));
    in->images = allocate(n * image);
    in->labels = allocate(n);
    in->samples = allocate(n * sizeof *in->samples);
    net_init_params(&in->desc, in->params, seed);
    bool blank = about.kind == GRADIENT_BLANK, noise = !blank && net_has_kinks(&in->desc);
    if (!blank)
        draw_biases(&in->desc, in->params, seed);
    for (uint32_t i = 0; i < n; i++) {
        draw_image(in->images + i * image, in->desc.input, seed, i, noise);
        if (blank && i == 0)
            memset(in->images, 0, image);
        in->labels[i] =
            (uint8_t)(rng_word(seed, STREAM_LABELS, 0, i, 0) % (uint32_t)in->desc.classes);
        in->samples[i] = i;
    }
}

static inline void gradient_input_free(struct gradient_input *in)
{
    void *all[] = {in->params, in->buffers, in->images, in->labels, in->samples};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        mem_free(all[i]);
    net_desc_free(&in->desc);
}

/* FNV-1a (Fowler, Noll, Vo). */
static inline uint64_t hash_bytes(uint64_t hash, const void *bytes, size_t n)
{
    for (size_t i = 0; i < n; i++)
        hash = (hash ^ ((const uint8_t *)bytes)[i]) * UINT64_C(0x100000001b3);
    return hash;
}

/* Hashes weights, which are floats in both builds, images and labels. */
static inline uint64_t gradient_input_hash(const struct gradient_input *in)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    size_t n = (size_t)in->about.images;
    for (size_t i = 0; i < in->desc.n_params; i++) {
        float w = (float)in->params[i];
        hash = hash_bytes(hash, &w, sizeof w);
    }
    hash = hash_bytes(hash, in->images, n * shape_count(in->desc.input));
    return hash_bytes(hash, in->labels, n);
}

static inline struct exec gradient_exec(const struct gradient_input *in)
{
    net_init_buffers(&in->desc, in->buffers);
    return (struct exec){.training = true,
                         .buffers = in->desc.n_buffers > 0 ? in->buffers : NULL,
                         .seed = in->seed,
                         .epoch = 1,
                         .samples = in->samples};
}

/* Computes grads [n_params] of the mean loss with a compiled plan that uses `choice` wherever
 * possible. */
static inline void gradient_by_choice(const struct gradient_input *in, enum plan plan, enum isa isa,
                                      enum kernel_choice choice, real *grads)
{
    uint8_t choices[64];
    assert_true(in->desc.n_layers <= (int)sizeof choices);
    memset(choices, choice, sizeof choices);
    struct exec ex = gradient_exec(in);
    struct error e = {0};
    struct net *net = NULL;
    int n = in->about.images;
    const struct net_options options = {
        .plan = plan, .isa = isa, .n_max = n, .threads = 1, .slots = 1, .choices = choices};
    if (net_create(&net, &in->desc, &options, &e) != OK)
        fail_msg("%s", e.text);
    net_load(net, &ex, 0, n, in->images);
    net_forward(net, &ex, 0, 0, net_ops(net), in->params);
    net_loss(net, &ex, 0, in->labels, NULL, 1.0 / n);
    net_backward(net, &ex, 0, 0, net_ops(net), in->params, grads);
    net_destroy(net);
}

static inline void gradient_by_plan(const struct gradient_input *in, enum plan plan, enum isa isa,
                                    real *grads)
{
    gradient_by_choice(in, plan, isa, CHOICE_shape, grads);
}

static inline double norm_of_reals(const real *g, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += (double)g[i] * (double)g[i];
    return sqrt(sum);
}

/* Returns whether a tensor is a convolution's bias before batch norm, which removes its effect: its
 * gradient is 0. */
static inline bool tensor_is_without_gradient(const struct net_desc *desc, int tensor)
{
    const struct tensor_desc *t = &desc->tensors[tensor];
    const struct layer_desc *layer = &desc->layers[t->layer];
    return t->bias && layer->kind == LAYER_conv2d && layer + 1 < desc->layers + desc->n_layers &&
           layer[1].kind == LAYER_batchnorm2d;
}
