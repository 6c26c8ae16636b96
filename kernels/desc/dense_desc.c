#include <math.h>

#include "kernels/desc/rules.h"

static const struct layer_option options[] = {
    {"outputs", LAYER_INT, offsetof(struct layer_desc, channels), 1, NET_CHANNELS_MAX, NAN,
     "length of the output vector"},
    LAYER_BIAS_OPTION,
    {.key = NULL},
};

static enum status infer(struct layer_desc *layer, struct error *e)
{
    layer->out = (struct shape){layer->channels, 1, 1};
    return OK;
}

static int tensors(const struct layer_desc *layer, struct tensor_desc list[2])
{
    size_t fan_in = shape_count(layer->in), fan_out = (size_t)layer->channels;
    const struct tensor_desc weight = {
        .name = "weight",
        .n_dims = 2,
        .dims = {layer->channels, (int)fan_in},
        .fan_in = fan_in,
        .fan_out = fan_out,
    };
    return layer_weight_and_bias(list, layer, &weight);
}

static uint64_t flops(const struct layer_desc *layer)
{
    return 2 * (uint64_t)shape_count(layer->in) * (uint64_t)layer->channels;
}

const struct layer_rule layer_rule_dense = {
    .shapes =
        "[C, H, W] to [outputs]; weight [outputs, C * H * W], bias [outputs] unless bias: false",
    .options = options,
    .infer = infer,
    .tensors = tensors,
    .flops = flops,
};
