#include "kernels/desc/rules.h"

const struct layer_rule layer_rule_avgpool2d = {
    .shapes = "[C, H, W] to [C, (H + 2 pad - size) / stride + 1, (W + 2 pad - size) / stride + 1], "
              "rounded down",
    .options = layer_pool_options,
    .infer = layer_slide_pool,
};
