#include "kernels/desc/rules.h"

static const struct layer_option options[] = {{.key = NULL}};

const struct layer_rule layer_rule_tanh = {
    .shapes = "[C, H, W] to [C, H, W]",
    .options = options,
    .infer = layer_keep_shape,
};
