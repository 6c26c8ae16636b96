/* Every element by itself. */
#include "kernels/layers/dropout_mask.h"

const struct layer_kernel layer_dropout = {
    .saved_bytes = dropout_mask_bytes,
    .forward = dropout_mask_forward,
    .backward = dropout_mask_backward,
};
