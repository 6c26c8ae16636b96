/* Fixture for tests of whole nets: a net, a batch of random images, and the results of a step. */
#pragma once

#include "kernels/tests/support.h"

#include <stdlib.h>

enum { STEP_IMAGES_MAX = 150 };

struct setup {
    struct net_desc desc;
    struct net *net;
    struct pool *pool;
    struct exec ex;
    int n;
    uint8_t *images, labels[STEP_IMAGES_MAX];
    uint32_t samples[STEP_IMAGES_MAX];
    real *params, *grads, *buffers, weights[STEP_IMAGES_MAX];
};

/* Allocates exactly n images, so that a sanitizer detects reads beyond the last one. */
static inline void setup_batch(struct setup *r)
{
    size_t bytes = (size_t)r->n * shape_count(r->desc.input);
    r->images = malloc(bytes);
    assert_non_null(r->images);
    for (size_t i = 0; i < bytes; i++)
        r->images[i] = (uint8_t)rng_word(1, 96, 0, 0, (uint32_t)i);
    for (uint32_t i = 0; i < (uint32_t)r->n; i++) {
        r->labels[i] = (uint8_t)(rng_word(2, 96, 0, 0, i) % (uint32_t)r->desc.classes);
        r->samples[i] = 100 + 3 * i;
    }
}

/* Completes a setup whose desc is described. n: images per call, unless `options` sets n_max. End
 * with setup_end. */
static inline void setup_net(struct setup *r, int n, struct net_options options)
{
    struct error e = {0};
    r->n = n;
    options.n_max = options.n_max > 0 ? options.n_max : n;
    options.slots = options.slots > 0 ? options.slots : 1;
    if (net_create(&r->net, &r->desc, &options, &e) != OK)
        fail_msg("%s", e.text);
    r->pool = make_pool(options.threads);
    setup_batch(r);
    r->params = mem_alloc(r->desc.n_params * sizeof(real));
    r->grads = random_reals(r->desc.n_params, 8);
    r->buffers = mem_alloc(r->desc.n_buffer_values * sizeof(real));
    net_init_params(&r->desc, r->params, 42);
    for (size_t i = 0; i < r->desc.n_buffer_values; i++)
        r->buffers[i] = (real)(0.5 + rng_unit(rng_word(4, 96, 0, 0, (uint32_t)i)));
    r->ex = (struct exec){.pool = r->pool,
                          .training = true,
                          .seed = 5,
                          .epoch = 1,
                          .buffers = r->buffers,
                          .samples = r->samples};
}

static inline void setup_end(struct setup *r)
{
    net_destroy(r->net);
    pool_destroy(r->pool);
    net_desc_free(&r->desc);
    free(r->images);
    mem_free(r->params);
    mem_free(r->grads);
    mem_free(r->buffers);
}

/* Returns the loss, summed over the images. */
static inline double setup_loss(struct setup *r)
{
    net_load(r->net, &r->ex, 0, r->n, r->images);
    net_forward(r->net, &r->ex, 0, 0, net_ops(r->net), r->params);
    return net_loss(r->net, &r->ex, 0, r->labels, NULL, 1.0 / r->n).loss_sum;
}

static inline void setup_step(struct setup *r)
{
    setup_loss(r);
    net_backward(r->net, &r->ex, 0, 0, net_ops(r->net), r->params, r->grads);
}
