#include <math.h>

#include "kernels/desc/rules.h"

static const struct layer_option options[] = {
    {"size", LAYER_PAIR, offsetof(struct layer_desc, kernel_h), 1, 64, NAN,
     "rows and columns of the window"},
    {"stride", LAYER_PAIR, offsetof(struct layer_desc, stride_h), 0, 64, 0,
     "step of the window over the input; 0: its size"},
    {"pad", LAYER_PAIR, offsetof(struct layer_desc, pad_h), 0, 32, 0,
     "zeroes added on each side of the input"},
    {.key = NULL},
};

const struct layer_rule layer_rule_avgpool2d = {
    .name = "avgpool2d",
    .summary = layer_summary_avgpool2d,
    .options = options,
    .infer = layer_slide_pool,
};
