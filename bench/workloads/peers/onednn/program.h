/* Calls of oneDNN that run each op of a network forward and backward, for a fixed number of images.
 * An op is a layer; a convolution, dense layer or batch norm includes a following ReLU. */
#pragma once

#include <stdbool.h>

#include "bench/workloads/peers/onednn/primitives.h"
#include "kernels/base/precision.h"
#include "kernels/desc/net_desc.h"

/* A layer with weights has 3 passes: forward, input gradient and weight gradient. A pass has up to
 * 6 ways: each of 3 algorithms (direct, winograd, auto), either in layouts that need no conversion
 * or in layouts that oneDNN chooses. */
enum { ONEDNN_PASSES = 3, ONEDNN_WAYS = 6 };

/* An op: its layers, the layout of its weights and its algorithms. All programs of a network share
 * the network's ops. */
struct onednn_op {
    const struct layer_desc *layer;
    bool relu;       /* whether the op includes the next layer, a ReLU */
    bool hands_back; /* whether an earlier op has parameters and needs this op's input gradient */
    /* Layout of the weights in the arenas of parameters and gradients; ndims = 0: no weights. A
     * layer's bias, or scale and shift, are row-major. */
    dnnl_memory_desc_t weights;
    /* algorithms of forward pass, weight gradient and, if computed, input gradient, such as
     * "winograd/direct/direct"; "": no weights */
    char algorithms[64];
    int8_t ways[ONEDNN_PASSES]; /* way (algorithm and layouts) of each pass, 0..ONEDNN_WAYS-1; -1:
                                   choose the fastest */
};

/* The oneDNN calls that compute an op, and the memory objects of that op. */
struct op_calls {
    struct dnn_calls forward, evaluation, backward;
    dnnl_memory_t y;      /* output of the op */
    dnnl_memory_t dx, dy; /* gradients of the op's input and output; all ops share two buffers */
    /* Views of parameters and gradients in the arenas; NULL if the op has none. program_place sets
     * their addresses before each call. In batch norm, `weights` holds scale and shift. */
    dnnl_memory_t weights, bias, dweights, dbias;
    dnnl_memory_t mean, variance;                 /* statistics of the current batch */
    dnnl_memory_t running_mean, running_variance; /* views of the running statistics; program_place
                                                     sets their addresses before each call */
    dnnl_memory_t mask;                           /* factors of dropout, row-major; NULL: none */
};

struct program {
    struct dnn *dnn;
    int n, n_ops;
    dnnl_memory_t x; /* normalised images [N,C,H,W], fp32 */
    struct op_calls *ops;
    struct program *next;
};

/* Makes the program for n images and allocates all memory. `first`: whether this is the network's
 * first program. The first program computes each pass of an op in the way (algorithm and layouts)
 * that ops[].ways gives, and replaces -1 by the fastest way. Every other program times the ways
 * anew, uses the fastest way of each pass and leaves ops[].ways unchanged. `values`: number type of
 * activations between ops, fp32 or bf16. program_free frees the program; dnn_close frees the memory
 * objects and primitives. */
enum status program_make(struct program **program, struct dnn *dnn, struct onednn_op *ops,
                         int n_ops, struct shape input, enum precision values, int n, bool first,
                         struct error *e);
void program_free(struct program *program);

/* Returns the address of a memory object's data. */
void *program_data(dnnl_memory_t memory);
/* Sets the address of a view. Does nothing if `view` is NULL. */
void program_place(dnnl_memory_t view, const void *at);
