#include "kernels/desc/rules.h"

#include <math.h>
#include <stdarg.h>

static const struct layer_rule *const rules[] = {
#define LAYER(name, summary) &layer_rule_##name,
#include "kernels/desc/layers.def"
};

const struct layer_rule *layer_rule_get(enum layer_kind kind)
{
    return rules[kind];
}

const char *const *layer_names(void)
{
    static const char *const names[] = {
#define LAYER(name, summary) #name,
#include "kernels/desc/layers.def"
    };
    return names;
}

enum status layer_error(const struct layer_desc *layer, struct error *e, const char *format, ...)
{
    char sentence[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(sentence, sizeof sentence, format, arguments);
    va_end(arguments);
    return error_at(e, ERR_SHAPE, NULL, layer->line, layer->column, "%s '%s': %s",
                    layer_names()[layer->kind], layer->name, sentence);
}

int layer_weight_and_bias(struct tensor_desc list[2], const struct layer_desc *layer,
                          const struct tensor_desc *weight)
{
    list[0] = *weight;
    list[1] = (struct tensor_desc){
        .name = "bias",
        .n_dims = 1,
        .dims = {weight->dims[0]},
        .fan_in = weight->fan_in,
        .fan_out = weight->fan_out,
        .bias = true,
    };
    return layer->without_bias ? 1 : 2;
}

enum status layer_slide_kernel(struct layer_desc *layer, struct error *e)
{
    int padded_h = layer->in.h + 2 * layer->pad_h, padded_w = layer->in.w + 2 * layer->pad_w;
    if (layer->kernel_h > padded_h || layer->kernel_w > padded_w)
        return layer_error(layer, e, "a %dx%d %s does not fit its input of %dx%d (padded %dx%d)",
                           layer->kernel_h, layer->kernel_w,
                           layer->kind == LAYER_conv2d ? "kernel" : "window", layer->in.h,
                           layer->in.w, padded_h, padded_w);
    layer->out.h = (padded_h - layer->kernel_h) / layer->stride_h + 1;
    layer->out.w = (padded_w - layer->kernel_w) / layer->stride_w + 1;
    return OK;
}

const struct layer_option layer_pool_options[] = {
    {"size", LAYER_PAIR, offsetof(struct layer_desc, kernel_h), 1, 64, NAN,
     "rows and columns of the window"},
    {"stride", LAYER_PAIR, offsetof(struct layer_desc, stride_h), 0, 64, 0,
     "step of the window over the input; 0: the size of the window"},
    {"pad", LAYER_PAIR, offsetof(struct layer_desc, pad_h), 0, 32, 0,
     "rows and columns of padding on each side: zeros in a mean, ignored by a maximum"},
    {.key = NULL},
};

enum status layer_slide_pool(struct layer_desc *layer, struct error *e)
{
    if (layer->stride_h == 0)
        layer->stride_h = layer->kernel_h;
    if (layer->stride_w == 0)
        layer->stride_w = layer->kernel_w;
    layer->out.c = layer->in.c;
    if (layer->kernel_h * layer->kernel_w * layer->stride_h * layer->stride_w == 1)
        return layer_error(layer, e,
                           "a window of 1x1 with a stride of 1 changes nothing; set a larger "
                           "size, or leave the layer out");
    if (2 * layer->pad_h > layer->kernel_h || 2 * layer->pad_w > layer->kernel_w)
        return layer_error(layer, e, "a padding of %dx%d is more than half the window of %dx%d",
                           layer->pad_h, layer->pad_w, layer->kernel_h, layer->kernel_w);
    return layer_slide_kernel(layer, e);
}

enum status layer_keep_shape(struct layer_desc *layer, struct error *e)
{
    layer->out = layer->in;
    return OK;
}
