/* Description of a network: layers, shapes, parameter tensors and FLOPs. Needs neither MPI nor
 * BLIS, so the runner can use it to check shapes and predict costs. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernels/base/error.h"

enum layer_kind {
#define LAYER(name, summary) LAYER_##name,
#include "kernels/desc/layers.def"
    LAYER_KINDS
};

enum initializer {
    INIT_PYTORCH, /* weights and biases U(-1/sqrt(fan_in), 1/sqrt(fan_in)) */
    INIT_GLOROT,  /* weights U(+-sqrt(6/(fan_in + fan_out))), biases 0 */
    INIT_HE,      /* weights N(0, 2/fan_in), biases 0 */
    INITIALIZERS
};

/* Shape of one image or one activation: channels, rows, columns. A vector of n numbers is {n, 1,
 * 1}. */
struct shape {
    int c, h, w;
};

#define NET_NAME_MAX     48
#define NET_CHANNELS_MAX 4096
#define TENSOR_DIMS_MAX  4

/* One parameter tensor: `count` numbers at `offset` in each arena (parameters, gradients, each
 * optimizer slot). Tensors are in forward order without gaps. The struct also describes a buffer
 * (running statistics); buffers have a separate arena. */
struct tensor_desc {
    char name[NET_NAME_MAX + 16]; /* for example "conv1.weight" */
    int layer;                    /* index of the layer that has this tensor */
    int n_dims, dims[TENSOR_DIMS_MAX];
    size_t offset, count;
    size_t fan_in, fan_out;
    bool bias;
    /* whether the tensor belongs to batch norm; it then starts at 0 if `bias` is set, else at 1 */
    bool norm;
};

/* One layer as written in the model file, and the values derived from it. FLOPs count a
 * multiplication and an addition as two operations. Bias, batch norm, ReLU, pooling and dropout are
 * not counted. */
struct layer_desc {
    enum layer_kind kind;
    int index; /* index of the layer in the net; set by net_desc_add */
    char name[NET_NAME_MAX];
    int line, column; /* position in the model file; 0 if built by code */

    /* Options. Each layer kind only uses the options in its layer_rule. */
    int channels; /* number of output channels (conv2d) or of outputs (dense) */
    int kernel_h, kernel_w;
    int stride_h, stride_w;
    int pad_h, pad_w;
    bool without_bias;        /* conv2d, dense: whether the layer has no bias */
    double rate;              /* probability that a number (dropout) or a whole channel (dropout2d)
                                 becomes 0 */
    double epsilon, momentum; /* batchnorm2d: epsilon is added to the variance; momentum is the
                               * weight of the newest batch in the running statistics */

    /* The next three members describe a slice of a net (net_slice.h). In a whole net they are 0. */
    int first_unit; /* index in the whole layer of the slice's first output, or of its first input
                     * if the layer is split by inputs */
    bool addend;    /* whether outputs must be summed over the slices before the next layer */
    bool unbiased;  /* whether another slice adds the bias */

    struct shape in, out;
    int first_tensor, n_tensors;
    int n_buffers;
    size_t buffer_offset;                   /* offset of the layer's first buffer in the arena of
                                             * buffers */
    uint64_t flops_forward, flops_backward; /* FLOPs per image; backward excludes dx in the first
                                             * layer with parameters */
};

/* Sets of optimisations that a compiled net may use (plans.def). */
enum plan {
#define PLAN(id, name, summary) PLAN_##id,
#include "kernels/desc/plans.def"
};

struct net_desc {
    char name[NET_NAME_MAX];
    struct shape input;
    int classes;
    double mean[4], std[4]; /* normalisation per channel: x = (byte/255 - mean) / std */
    enum initializer initializer;

    struct layer_desc *layers;
    int n_layers;
    struct tensor_desc *tensors;
    int n_tensors;
    size_t n_params;
    struct tensor_desc *buffers; /* running statistics, without gradient or optimizer state */
    int n_buffers;
    size_t n_buffer_values;
    uint64_t flops_forward, flops_backward; /* FLOPs per image */
};

/* One option of a layer kind. A LAYER_PAIR takes one number or [h, w]. A LAYER_PART is a bool
 * (default true) that selects an optional part of the layer. Its field in struct layer_desc is the
 * negation: `bias: false` sets without_bias. */
struct layer_option {
    const char *key;
    enum { LAYER_INT, LAYER_PAIR, LAYER_REAL, LAYER_PART } type;
    size_t offset; /* offset of the option's field (for a pair: of its first field) in struct
                    * layer_desc */
    double min, max;
    double preset; /* default if the key is absent; NAN: required */
    const char *help;
};

/* Rules of a layer kind: options, shapes, tensors, FLOPs. */
struct layer_rule {
    const char *shapes; /* for users: shapes of input, output and tensors as formulas of the
                         * options */
    const struct layer_option *options; /* options of the kind; the last entry has a NULL key */
    /* Sets layer->out from layer->in and the options. If the shapes do not fit, returns ERR_SHAPE
     * with a sentence that names them. */
    enum status (*infer)(struct layer_desc *layer, struct error *e);
    /* Fills n_dims, dims, fan_in, fan_out, bias, norm and the last part of the name of each
     * parameter tensor. Returns the number of tensors, at most 2. NULL: no parameters. */
    int (*tensors)(const struct layer_desc *layer, struct tensor_desc tensors[2]);
    /* Fills n_dims, dims, bias and the last part of the name of each buffer, in order. Returns the
     * number of buffers, at most 2. NULL: no buffers. */
    int (*buffers)(const struct layer_desc *layer, struct tensor_desc buffers[2]);
    /* Returns forward FLOPs per image. Backward needs the same number for dw and, except in the
     * first layer with parameters, for dx. NULL: FLOPs are not counted. */
    uint64_t (*flops)(const struct layer_desc *layer);
};

/* Returns whether this layer lacks the optional part, such as the bias, that a LAYER_PART option
 * turns on or off. */
static inline bool layer_lacks(const struct layer_desc *layer, const struct layer_option *option)
{
    return *(const bool *)((const char *)layer + option->offset);
}

const struct layer_rule *layer_rule_get(enum layer_kind kind);
const char *const *layer_names(void);       /* Returns the names [LAYER_KINDS] of layer kinds. */
const char *const *initializer_names(void); /* Returns the names of the INITIALIZERS: pytorch glorot
                                             * he. */

/* Begins a network. ERR_SPEC if the name is empty or too long. ERR_SHAPE unless channels, rows and
 * columns of the input are 1..4096 and `classes` is 2..1000. */
enum status net_desc_begin(struct net_desc *net, const char *name, struct shape input, int classes,
                           struct error *e);

/* Returns a layer of this kind without shapes. Each option has its default; options without a
 * default are 0. */
struct layer_desc layer_desc_preset(enum layer_kind kind);

/* Appends a copy of `layer`: infers its shapes and adds its tensors. An empty name becomes the kind
 * and a number ("conv2d1"). Names must be unique and must not begin with "optimizer." or "rank.".
 * On error the net is unchanged. */
enum status net_desc_add(struct net_desc *net, const struct layer_desc *layer, struct error *e);

/* Completes the net and sums its FLOPs. ERR_SHAPE unless the last layer outputs {classes, 1, 1},
 * the input of softmax cross-entropy. */
enum status net_desc_end(struct net_desc *net, struct error *e);

/* Frees the net's tables, but not the struct itself. */
void net_desc_free(struct net_desc *net);

/* Sets ready [n_tensors] to the times from the start of a backward pass until each gradient is
 * ready. The time of the whole pass, `backward`, is divided among layers in proportion to their
 * FLOPs. */
void net_desc_ready(const struct net_desc *net, double *ready, double backward);

static inline size_t shape_count(struct shape s)
{
    return (size_t)s.c * (size_t)s.h * (size_t)s.w;
}

/* Writes a shape as "10x24x24", or as "50" if it is a vector. Returns `text`. */
char *shape_text(char text[40], struct shape s);

size_t net_layer_params(const struct net_desc *net, const struct layer_desc *layer);

/* Prints the table of `scalebench model NAME`: layers with kind, output shape, parameters and
 * FLOPs, then totals. */
void net_desc_print(FILE *out, const struct net_desc *net);
