#include "kernels/desc/rules.h"

static const struct layer_option options[] = {
    {"rate", LAYER_REAL, offsetof(struct layer_desc, rate), 0, 0.999999, 0.5,
     "probability that a channel becomes zero"},
    {.key = NULL},
};

const struct layer_rule layer_rule_dropout2d = {
    .shapes = "[C, H, W] to [C, H, W]",
    .options = options,
    .infer = layer_keep_shape,
};
