/* Functions shared by the rules of several layer kinds. Internal to this folder. */
#pragma once

#include "kernels/desc/net_desc.h"

/* Declares layer_rule_<kind>, defined in <kind>_desc.c, for each layer kind. */
#define LAYER(name, summary) extern const struct layer_rule layer_rule_##name;
#include "kernels/desc/layers.def"

/* Limit on the number of elements in one image's activation and on the number of parameters in a
 * net: INT_MAX, since dimensions and MPI counts are ints. */
#define NET_COUNT_MAX 2147483647u

/* Sets *e to the formatted message, preceded by the layer's position in the model file, its kind
 * and its name ("conv2d 'conv1': "). Returns ERR_SHAPE. */
enum status layer_error(const struct layer_desc *layer, struct error *e, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Sets `list` to the tensors of a conv2d or dense layer: `weight` [outputs, ...], then the bias
 * [outputs], if the layer has one. Returns the number of tensors. */
int layer_weight_and_bias(struct tensor_desc list[2], const struct layer_desc *layer,
                          const struct tensor_desc *weight);

/* The option `bias` of conv2d and dense, for their tables of options. */
#define LAYER_BIAS_OPTION                                                                          \
    {                                                                                              \
        "bias", LAYER_PART, offsetof(struct layer_desc, without_bias), 0, 1, 1,                    \
            "whether to add a bias to each output; not needed before batchnorm2d"                  \
    }

/* Sets layer->out.h and layer->out.w for a kernel or window that slides over the padded input:
 * (padded size - kernel size) / stride + 1, rounded down. ERR_SHAPE if the kernel is larger than
 * the padded input. */
enum status layer_slide_kernel(struct layer_desc *layer, struct error *e);

extern const struct layer_option layer_pool_options[];

/* Sets layer->out of a pooling layer. A stride of 0 becomes the window size. ERR_SHAPE if the
 * window is larger than the padded input or is 1x1 with stride 1, or if the padding is more than
 * half the window. */
enum status layer_slide_pool(struct layer_desc *layer, struct error *e);

/* Sets layer->out = layer->in, for element-wise kinds. Always returns OK. */
enum status layer_keep_shape(struct layer_desc *layer, struct error *e);
