/* Helpers for tests of layers and nets: random inputs, construction of layers and nets. */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "kernels/base/fp_mode.h"
#include "kernels/base/mem.h"
#include "kernels/base/rng.h"
#include "kernels/gemm.h"
#include "kernels/net/net.h"
#include "kernels/optimizers/optimizer.h"

/* Returns n numbers in [-1, 1) that only depend on `seed`. Free with mem_free. */
static inline real *random_reals(size_t n, uint64_t seed)
{
    real *x = mem_alloc(n * sizeof *x);
    assert_non_null(x);
    for (size_t i = 0; i < n; i++)
        x[i] = (real)(2 * rng_unit(rng_word(seed, 99, 0, 0, (uint32_t)i)) - 1);
    return x;
}

static inline real *absolute_reals(const real *x, size_t n)
{
    real *a = mem_alloc(n * sizeof *a);
    assert_non_null(a);
    for (size_t i = 0; i < n; i++)
        a[i] = (real)fabs((double)x[i]);
    return a;
}

/* Appends a layer that must be valid. */
static inline void add_layer(struct net_desc *net, struct layer_desc layer)
{
    struct error e = {0};
    if (net_desc_add(net, &layer, &e) != OK)
        fail_msg("%s", e.text);
}

static inline struct layer_desc conv2d_layer(int channels, int kernel_h, int kernel_w, int stride,
                                             int pad)
{
    struct layer_desc l = layer_desc_preset(LAYER_conv2d);
    l.channels = channels;
    l.kernel_h = kernel_h;
    l.kernel_w = kernel_w;
    l.stride_h = l.stride_w = stride;
    l.pad_h = l.pad_w = pad;
    return l;
}

static inline struct layer_desc pool_layer(enum layer_kind kind, int kernel_h, int kernel_w,
                                           int stride, int pad)
{
    struct layer_desc l = layer_desc_preset(kind);
    l.kernel_h = kernel_h;
    l.kernel_w = kernel_w;
    l.stride_h = l.stride_w = stride;
    l.pad_h = l.pad_w = pad;
    return l;
}

static inline struct layer_desc maxpool2d_layer(int kernel_h, int kernel_w, int stride)
{
    return pool_layer(LAYER_maxpool2d, kernel_h, kernel_w, stride, 0);
}

static inline struct layer_desc dropout_layer(enum layer_kind kind, double rate)
{
    struct layer_desc l = layer_desc_preset(kind);
    l.rate = rate;
    return l;
}

static inline struct layer_desc dense_layer(int outputs)
{
    struct layer_desc l = layer_desc_preset(LAYER_dense);
    l.channels = outputs;
    return l;
}

static inline void begin_net(struct net_desc *net, const char *name, struct shape input,
                             int classes)
{
    struct error e = {0};
    if (net_desc_begin(net, name, input, classes, &e) != OK)
        fail_msg("%s", e.text);
}

static inline void end_net(struct net_desc *net)
{
    struct error e = {0};
    if (net_desc_end(net, &e) != OK)
        fail_msg("%s", e.text);
}

static inline struct pool *make_pool(int threads)
{
    struct pool *pool = NULL;
    struct error e = {0};
    if (pool_create(&pool, threads, NULL, NULL, &e) != OK)
        fail_msg("%s", e.text);
    return pool;
}

static inline struct net *make_net(const struct net_desc *desc, enum plan plan, int n_max,
                                   int threads, int slots)
{
    struct net *net = NULL;
    struct error e = {0};
    const struct net_options options = {
        .plan = plan, .isa = isa_best(), .n_max = n_max, .threads = threads, .slots = slots};
    if (net_create(&net, desc, &options, &e) != OK)
        fail_msg("%s", e.text);
    return net;
}

/* Returns ||a - b|| / ||b||; NaN or infinite if b is 0. */
static inline double relative_distance(const real *a, const real *b, size_t n)
{
    double difference = 0, size = 0;
    for (size_t i = 0; i < n; i++) {
        difference += ((double)a[i] - (double)b[i]) * ((double)a[i] - (double)b[i]);
        size += (double)b[i] * (double)b[i];
    }
    return sqrt(difference / size);
}

/* One step of two plans agrees to 1e-4 in float (test_net.c); double has 2^29 times the precision.
 * Exact zeros must be equal. */
static inline void assert_close(const char *what, const real *a, const real *b, size_t n)
{
    const double bound = REAL_EPSILON * 1e-4 / 0x1p-23;
    double distance = relative_distance(a, b, n);
    if (!(distance <= bound) && memcmp(a, b, n * sizeof *a) != 0)
        fail_msg("%s: relative distance %.3g exceeds %.3g", what, distance, bound);
}
