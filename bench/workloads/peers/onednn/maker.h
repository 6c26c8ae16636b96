/* State used to make a program (the oneDNN calls that run a network, see program.h), and functions
 * that add an op to the program. */
#pragma once

#include "bench/workloads/peers/onednn/program.h"

struct maker {
    struct dnn *dnn;
    struct onednn_op *op; /* op whose oneDNN calls are added to `calls` */
    struct op_calls *calls;
    dnnl_data_type_t type; /* type of values between ops */
    int n;                 /* images per batch */
    bool last;             /* whether the op's output is the logits, row-major in 32 bits */
    bool first;            /* whether this is the network's first program. Only the first program
                              reads and sets op->ways and appends to op->algorithms */
    dnnl_memory_t x;       /* input of the op */
};

/* Add the calls of m->op to m->calls. Also set three members of m->calls: `y` is the op's output;
 * `dx` and `dy` are views for gradients. `dx` has the layout of m->x, and `dy` has the layout of
 * `y`. */
enum status add_weighted(struct maker *m, struct error *e); /* conv2d, dense */
enum status add_norm(struct maker *m, struct error *e);
enum status add_pool(struct maker *m, struct error *e);
enum status add_relu(struct maker *m, struct error *e);
enum status add_dropout(struct maker *m, struct error *e);

/* Appends the backward pass of a ReLU with output `y` to `calls`. The pass overwrites `gradient`,
 * the gradient of `y`, with the gradient of the ReLU's input. */
enum status add_relu_gradient(struct maker *m, struct dnn_calls *calls, dnnl_memory_t y,
                              dnnl_memory_t gradient, struct error *e);

/* Makes a primitive description; ERR_UNAVAILABLE if oneDNN has no implementation. */
enum status must_describe(struct maker *m, dnnl_primitive_desc_t *desc, const_dnnl_op_desc_t op,
                          const_dnnl_primitive_attr_t attributes, const_dnnl_primitive_desc_t hint,
                          struct error *e);

/* Make a memory object with a layout. make_result allocates its data; make_view leaves its address
 * unset. */
enum status make_result(struct maker *m, dnnl_memory_t *memory, const dnnl_memory_desc_t *layout,
                        struct error *e);
enum status make_view(struct maker *m, dnnl_memory_t *memory, const dnnl_memory_desc_t *layout,
                      struct error *e);
