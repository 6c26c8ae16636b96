/* For the files of this folder: what the rules of layers share. */
#pragma once

#include "kernels/desc/net_desc.h"

/* One rule a kind, in <kind>_desc.c. */
#define LAYER(name, summary) extern const struct layer_rule layer_rule_##name;
#include "kernels/desc/layers.def"

/* Most numbers that an activation or all parameters together may have: what an int counts, because
 * dimensions and MPI counts are ints. */
#define NET_COUNT_MAX 2147483647u

/* ERR_SHAPE at the layer's place: "conv2d 'conv1': " and the sentence. */
enum status layer_error(const struct layer_desc *layer, struct error *e, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The tensors of a layer that multiplies by `weight` [outputs, ...] and adds a bias [outputs], where it has one: how many. */
int layer_weight_and_bias(struct tensor_desc list[2], const struct layer_desc *layer,
                          const struct tensor_desc *weight);

/* The option `bias` of such a layer. */
#define LAYER_BIAS_OPTION                                                                          \
    {                                                                                              \
        "bias", LAYER_PART, offsetof(struct layer_desc, without_bias), 0, 1, 1,                    \
            "whether a bias is added to each output; batchnorm2d behind the layer makes it "       \
            "superfluous"                                                                          \
    }

/* Rows and columns of layer->out for a kernel of kernel_h x kernel_w that moves by the strides over
 * the padded input, rounded down. ERR_SHAPE when it does not fit even once. */
enum status layer_slide_kernel(struct layer_desc *layer, struct error *e);

/* Options of a pooling layer. */
extern const struct layer_option layer_pool_options[];

/* As layer_slide_kernel for a pooling layer, whose stride of 0 means its size. ERR_SHAPE also when
 * the padding is more than half the window, because then a window may lie outside altogether. */
enum status layer_slide_pool(struct layer_desc *layer, struct error *e);

/* layer->out = layer->in, for kinds that work on each number. Cannot fail. */
enum status layer_keep_shape(struct layer_desc *layer, struct error *e);
