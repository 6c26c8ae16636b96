#include <math.h>

#include "kernels/desc/rules.h"

static const struct layer_option options[] = {
    {"channels", LAYER_INT, offsetof(struct layer_desc, channels), 1, NET_CHANNELS_MAX, NAN,
     "output channels"},
    {"kernel", LAYER_PAIR, offsetof(struct layer_desc, kernel_h), 1, 64, NAN,
     "rows and columns of the kernel"},
    {"stride", LAYER_PAIR, offsetof(struct layer_desc, stride_h), 1, 64, 1,
     "step of the kernel over the input"},
    {"pad", LAYER_PAIR, offsetof(struct layer_desc, pad_h), 0, 64, 0,
     "rows and columns of zeros added on each side of the input"},
    LAYER_BIAS_OPTION,
    {.key = NULL},
};

static enum status infer(struct layer_desc *layer, struct error *e)
{
    layer->out.c = layer->channels;
    return layer_slide_kernel(layer, e);
}

static int tensors(const struct layer_desc *layer, struct tensor_desc list[2])
{
    size_t kernel = (size_t)layer->kernel_h * (size_t)layer->kernel_w;
    size_t fan_in = (size_t)layer->in.c * kernel, fan_out = (size_t)layer->channels * kernel;
    const struct tensor_desc weight = {
        .name = "weight",
        .n_dims = 4,
        .dims = {layer->channels, layer->in.c, layer->kernel_h, layer->kernel_w},
        .fan_in = fan_in,
        .fan_out = fan_out,
    };
    return layer_weight_and_bias(list, layer, &weight);
}

static uint64_t flops(const struct layer_desc *layer)
{
    uint64_t taps = (uint64_t)layer->in.c * (uint64_t)layer->kernel_h * (uint64_t)layer->kernel_w;
    return 2 * taps * shape_count(layer->out);
}

const struct layer_rule layer_rule_conv2d = {
    .shapes = "[C, H, W] to [channels, (H + 2 pad - kernel) / stride + 1, (W + 2 pad - kernel) / "
              "stride + 1],"
              " rounded down; weight [channels, C, rows and columns of the kernel], bias "
              "[channels] unless bias: false",
    .options = options,
    .infer = infer,
    .tensors = tensors,
    .flops = flops,
};
