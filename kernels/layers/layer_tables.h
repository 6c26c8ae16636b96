/* What the layer kernels share among themselves: their tables, and loops over images or elements
 * that are cut among threads and let communication progress. Internal to kernels/. */
#pragma once

#include <string.h>

#include "kernels/layers/layer.h"

/* Every kind's table, and the twin in plain loops, which only those have that name it. */
#define LAYER(name, summary) extern const struct layer_kernel layer_##name, layer_##name##_ref;
#include "kernels/desc/layers.def"

/* One block of a loop: items [begin, end), run by `thread`. */
typedef void block_function(void *arg, size_t begin, size_t end, int thread);

/* Runs f over [0, n) in blocks of at most `block` items: each thread of ex->pool takes one
 * contiguous share in order, and the calling thread polls after each of its blocks. Which thread
 * gets which block depends on n, block and the number of threads alone. */
void exec_for(const struct exec *ex, size_t n, size_t block, block_function *f, void *arg);

/* Lets communication progress; for the calling thread only. */
static inline void exec_poll(const struct exec *ex)
{
    if (ex->poll != NULL)
        ex->poll(ex->poll_arg);
}

/* Elements of a loop over memory between two polls: some 50 us at 10 GB/s. */
#define ELEMENTS_PER_BLOCK ((size_t)1 << 16)

/* FLOPs between two polls: some 300 us at 200 GFLOP/s, where GEMM still runs at its best. */
#define FLOPS_PER_BLOCK ((size_t)64 << 20)

/* Images a block holds at most so that it costs no more than `budget`, each costing `cost`. */
static inline size_t images_per_block(size_t budget, size_t cost)
{
    return cost < budget ? budget / (cost > 0 ? cost : 1) : 1;
}

/* Numbers of the bias that conv2d or dense has: one for each output, or none. */
static inline size_t bias_count(const struct layer_desc *l)
{
    return l->without_bias ? 0 : (size_t)l->channels;
}

/* What is added to the outputs, behind the `weights` first parameters; NULL: nothing. */
static inline const real *added_bias(const struct layer_desc *l, const real *params, size_t weights)
{
    return l->without_bias || l->unbiased ? NULL : params + weights;
}

/* What the sums of a dense layer's outputs begin with. */
static inline void begin_outputs(real *y, const struct layer_desc *dense, const real *bias)
{
    size_t bytes = (size_t)dense->channels * sizeof *y;
    if (bias == NULL)
        memset(y, 0, bytes);
    else
        memcpy(y, bias, bytes);
}

/* Bytes of `count` numbers, rounded up so that what follows is aligned to a cache line. */
static inline size_t real_bytes(size_t count)
{
    return (count * sizeof(real) + 63) / 64 * 64;
}

/* The same in numbers. */
static inline size_t aligned_reals(size_t count)
{
    return real_bytes(count) / sizeof(real);
}
