/* What a network is, without computing it: layers, shapes, parameter tensors, FLOPs, bytes. Knows
 * no MPI and no BLIS, so the runner checks shapes and predicts costs with it. */
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

/* Shape of one image or one activation: channels, rows, columns. A vector of n is {n, 1, 1}. */
struct shape {
    int c, h, w;
};

#define NET_NAME_MAX     48
#define NET_CHANNELS_MAX 4096
#define TENSOR_DIMS_MAX  4

/* One parameter tensor: a run of `count` numbers at `offset` in each arena (parameters, gradients,
 * and each optimizer slot). Tensors lie in forward order without gaps. Buffers, which are no
 * parameters, are described alike and lie in an arena of their own. */
struct tensor_desc {
    char name[NET_NAME_MAX + 16]; /* "conv1.weight" */
    int layer;                    /* index of the layer it belongs to */
    int n_dims, dims[TENSOR_DIMS_MAX];
    size_t offset, count;
    size_t fan_in, fan_out;
    bool bias;
    bool norm; /* scale or, with `bias`, shift of a normalisation: starts at 1 or 0 */
};

/* One layer as written in the model file, with what follows from it. FLOPs count a multiplication
 * and an addition as two and leave out bias, ReLU, pooling and dropout, as the field does. */
struct layer_desc {
    enum layer_kind kind;
    int index; /* position in the net; set when it is added */
    char name[NET_NAME_MAX];
    int line, column; /* where the model file says it, 0 if built by code */

    /* options; which of them a kind takes is in its layer_rule */
    int channels; /* outputs of conv2d and dense */
    int kernel_h, kernel_w;
    int stride_h, stride_w;
    int pad_h, pad_w;
    bool without_bias;        /* of conv2d and dense: no such tensor, nothing is added */
    double rate;              /* of dropout */
    double epsilon, momentum; /* of batchnorm2d */

    /* Of a slice of a net (net_slice.h); in a whole net all 0. */
    int first_unit; /* its share of outputs or inputs begins with this one of the whole layer's */
    bool addend;    /* outputs are summed over the slices before another layer takes them */
    bool unbiased;  /* without the bias, which another slice adds */

    struct shape in, out;
    int first_tensor, n_tensors;
    int n_buffers;
    size_t buffer_offset;                   /* of the first buffer in its arena */
    uint64_t flops_forward, flops_backward; /* an image; backward of the first layer has no dx */
};

/* What a compiled net may do. */
enum plan {
#define PLAN(id, name, summary) PLAN_##id,
#include "kernels/desc/plans.def"
};

struct net_desc {
    char name[NET_NAME_MAX];
    struct shape input;
    int classes;
    double mean[4], std[4]; /* a channel: x = (byte/255 - mean) / std */
    enum initializer initializer;

    struct layer_desc *layers;
    int n_layers;
    struct tensor_desc *tensors;
    int n_tensors;
    size_t n_params;
    struct tensor_desc *buffers; /* running statistics: no gradient, no optimizer */
    int n_buffers;
    size_t n_buffer_values;
    uint64_t flops_forward, flops_backward; /* an image */
};

/* One option of a kind of layer, as a model file writes it. Pair options take one number or [h,
 * w]. LAYER_PART is true, the preset, or false: its field, a bool, is set for a layer without that part. */
struct layer_option {
    const char *key;
    enum { LAYER_INT, LAYER_PAIR, LAYER_REAL, LAYER_PART } type;
    size_t offset; /* of the field, or of the first of a pair, in struct layer_desc */
    double min, max;
    double preset; /* used when the key is absent; NAN when it must be there */
    const char *help;
};

/* What desc knows of a kind of layer. */
struct layer_rule {
    const char *shapes; /* from input to output, and of its tensors, in words of its options */
    const struct layer_option *options; /* ends with a NULL key */
    /* Fills layer->out from layer->in and the options; ERR_SHAPE with a sentence that names the
     * shapes when they do not fit. */
    enum status (*infer)(struct layer_desc *layer, struct error *e);
    /* Parameter tensors in order (n_dims, dims, fan_in, fan_out, bias, and name without the
     * layer's), at most 2; returns how many. NULL: none. */
    int (*tensors)(const struct layer_desc *layer, struct tensor_desc tensors[2]);
    /* Buffers in the same way. NULL: none. */
    int (*buffers)(const struct layer_desc *layer, struct tensor_desc buffers[2]);
    /* Forward FLOPs an image; backward costs the same again for dw and, but in the first layer with
     * parameters, for dx. NULL: 0. */
    uint64_t (*flops)(const struct layer_desc *layer);
};

/* Whether this layer lacks the part of a LAYER_PART option. */
static inline bool layer_lacks(const struct layer_desc *layer, const struct layer_option *option)
{
    return *(const bool *)((const char *)layer + option->offset);
}

const struct layer_rule *layer_rule_get(enum layer_kind kind);
const char *const *layer_names(void);       /* LAYER_KINDS names */
const char *const *initializer_names(void); /* INITIALIZERS names: pytorch glorot he */

/* Starts a network. Shapes are checked: 1..4096 channels, 1..4096 rows and columns, 2..1000
 * classes. */
enum status net_desc_begin(struct net_desc *net, const char *name, struct shape input, int classes,
                           struct error *e);

/* A layer of this kind with every option at its preset (those without one at 0), no shapes yet. */
struct layer_desc layer_desc_preset(enum layer_kind kind);

/* Appends a copy of `layer`: infers its shapes from the layer before, adds its tensors. An empty
 * name becomes the kind's name with a number ("conv2d1"); names must differ. On error the net is as
 * before. */
enum status net_desc_add(struct net_desc *net, const struct layer_desc *layer, struct error *e);

/* Ends it: the last layer must give {classes, 1, 1}, the input of softmax cross-entropy. Sums
 * FLOPs. */
enum status net_desc_end(struct net_desc *net, struct error *e);

/* Frees what the net holds; the struct itself is the caller's. */
void net_desc_free(struct net_desc *net);

static inline size_t shape_count(struct shape s)
{
    return (size_t)s.c * (size_t)s.h * (size_t)s.w;
}

/* "10x24x24", or "50" for a vector, into text; returns text. */
char *shape_text(char text[40], struct shape s);

/* Parameters of one of the net's layers. */
size_t net_layer_params(const struct net_desc *net, const struct layer_desc *layer);

/* The table of `scalebench model NAME`: layer, output shape, parameters, FLOPs; totals. */
void net_desc_print(FILE *out, const struct net_desc *net);
