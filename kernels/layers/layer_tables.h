/* Declares the tables of the layer kernels, and helpers such as loops over images or elements. The
 * loops are split among threads and let communication progress. Internal to kernels/. */
#pragma once

#include <string.h>

#include "kernels/layers/layer.h"

/* layer_<name> is the table of a layer kind. layer_<name>_ref, a version in plain loops, only
 * exists if `reference` of layer_<name> points to it. */
#define LAYER(name, summary) extern const struct layer_kernel layer_##name, layer_##name##_ref;
#include "kernels/desc/layers.def"

/* Processes items [begin, end) of a loop in thread `thread`. */
typedef void block_function(void *arg, size_t begin, size_t end, int thread);

/* Runs f over [0, n) in blocks of at most `block` items. Each thread of ex->pool processes one
 * contiguous range in order. The ranges depend only on n and the number of threads. The calling
 * thread polls after each of its blocks, so that communication progresses. */
void exec_for(const struct exec *ex, size_t n, size_t block, block_function *f, void *arg);

/* Polls, so that communication can progress. May be called only by the thread that runs the layer,
 * not by the other threads of ex->pool. */
static inline void exec_poll(const struct exec *ex)
{
    if (ex->poll != NULL)
        ex->poll(ex->poll_arg);
}

/* Elements that a memory-bound loop processes between two polls: about 50 us at 10 GB/s. */
#define ELEMENTS_PER_BLOCK ((size_t)1 << 16)

/* FLOPs that a loop computes between two polls: about 300 us at 200 GFLOP/s, enough for GEMM to
 * reach its full rate. */
#define FLOPS_PER_BLOCK ((size_t)64 << 20)

/* Returns the number of items that fit into a block, at least 1. `cost` (of one item) and `budget`
 * have the same unit: elements, FLOPs or bytes. */
static inline size_t images_per_block(size_t budget, size_t cost)
{
    return cost < budget ? budget / (cost > 0 ? cost : 1) : 1;
}

/* Returns the number of biases of a conv2d or dense layer: one per output channel (conv2d) or per
 * output (dense), or 0 if without_bias is set. */
static inline size_t bias_count(const struct layer_desc *l)
{
    return l->without_bias ? 0 : (size_t)l->channels;
}

/* Returns the biases to add to the outputs. They follow the weights in params. NULL if the layer
 * has none, or if another slice of the layer adds them. */
static inline const real *added_bias(const struct layer_desc *l, const real *params, size_t weights)
{
    return l->without_bias || l->unbiased ? NULL : params + weights;
}

/* Sets the outputs of a dense layer for one image to `bias`, or to 0 if `bias` is NULL. */
static inline void begin_outputs(real *y, const struct layer_desc *dense, const real *bias)
{
    size_t bytes = (size_t)dense->channels * sizeof *y;
    if (bias == NULL)
        memset(y, 0, bytes);
    else
        memcpy(y, bias, bytes);
}

/* Returns the bytes of `count` numbers, rounded up to a multiple of a cache line. */
static inline size_t real_bytes(size_t count)
{
    return (count * sizeof(real) + 63) / 64 * 64;
}

/* Returns `count`, a number of reals, rounded up to whole cache lines. */
static inline size_t aligned_reals(size_t count)
{
    return real_bytes(count) / sizeof(real);
}
