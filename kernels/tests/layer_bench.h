/* Fixture for tests of single layers. */
#pragma once

#include "kernels/tests/support.h"

/* One layer, with everything a call needs. */
struct bench {
    struct net_desc desc;
    const struct layer_desc *layer;
    const struct layer_kernel *kernel;
    int n, threads;
    struct pool *pool;
    size_t in, out, params; /* numbers in x, y and the parameters */
    real *x, *y, *dx, *dy, *weights, *dweights, *buffers;
    void *saved, *scratch;
    uint32_t samples[64];
    struct exec ex;
};

static inline void bench_begin(struct bench *b, struct shape in, struct layer_desc layer,
                               enum plan plan, int n, int threads)
{
    *b = (struct bench){.n = n, .threads = threads};
    begin_net(&b->desc, "one", in, 2);
    add_layer(&b->desc, layer);
    b->layer = &b->desc.layers[0];
    b->kernel = layer_kernel_get(layer.kind, plan);
    b->pool = make_pool(threads);
    b->in = (size_t)n * shape_count(in);
    b->out = (size_t)n * shape_count(b->layer->out);
    b->params = b->desc.n_params;
    b->x = random_reals(b->in, 1);
    b->dy = random_reals(b->out, 2);
    b->weights = random_reals(b->params, 3);
    b->y = random_reals(b->out, 4); /* random, so that numbers a kernel fails to write are
                                     * detected */
    b->dx = random_reals(b->in, 5);
    b->dweights = random_reals(b->params, 6);
    b->buffers = mem_alloc(b->desc.n_buffer_values * sizeof(real));
    net_init_buffers(&b->desc, b->buffers);
    b->saved = mem_alloc(layer_saved_bytes(b->kernel, b->layer, n));
    b->scratch = mem_alloc(layer_scratch_bytes(b->kernel, b->layer, n, threads));
    for (uint32_t i = 0; i < 64; i++)
        b->samples[i] = 1000 + 7 * i;
    b->ex = (struct exec){.pool = b->pool,
                          .training = true,
                          .seed = 11,
                          .epoch = 3,
                          .samples = b->samples,
                          .buffers = b->buffers};
}

static inline void bench_end(struct bench *b)
{
    mem_free(b->x);
    mem_free(b->y);
    mem_free(b->dx);
    mem_free(b->dy);
    mem_free(b->weights);
    mem_free(b->dweights);
    mem_free(b->buffers);
    mem_free(b->saved);
    mem_free(b->scratch);
    pool_destroy(b->pool);
    net_desc_free(&b->desc);
}

static inline struct layer_call bench_call(struct bench *b)
{
    return (struct layer_call){.ex = &b->ex,
                               .layer = b->layer,
                               .n = b->n,
                               .y = b->y,
                               .x = b->x,
                               .dx = b->dx,
                               .dy = b->dy,
                               .params = b->weights,
                               .dparams = b->dweights,
                               .saved = b->saved,
                               .scratch = b->scratch};
}

static inline void bench_forward(struct bench *b)
{
    struct layer_call call = bench_call(b);
    b->kernel->forward(&call);
}

static inline void bench_backward(struct bench *b)
{
    struct layer_call call = bench_call(b);
    b->kernel->backward(&call);
}
