#include <math.h>

#include "kernels/desc/rules.h"

static const struct layer_option options[] = {
    {"size", LAYER_PAIR, offsetof(struct layer_desc, kernel_h), 1, 64, NAN,
     "rows and columns of the window"},
    {"stride", LAYER_PAIR, offsetof(struct layer_desc, stride_h), 0, 64, 0,
     "step of the window over the input; 0: its size"},
    {.key = NULL},
};

static enum status infer(struct layer_desc *layer, struct error *e)
{
    if (layer->stride_h == 0)
        layer->stride_h = layer->kernel_h;
    if (layer->stride_w == 0)
        layer->stride_w = layer->kernel_w;
    layer->out.c = layer->in.c;
    return layer_slide_window(layer, e);
}

const struct layer_rule layer_rule_maxpool2d = {
    .name = "maxpool2d",
    .summary = layer_summary_maxpool2d,
    .options = options,
    .infer = infer,
};
