#include "kernels/desc/rules.h"

const struct layer_rule layer_rule_maxpool2d = {
    .name = "maxpool2d",
    .summary = layer_summary_maxpool2d,
    .options = layer_pool_options,
    .infer = layer_slide_pool,
};
