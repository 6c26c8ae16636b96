/* Every element by itself. */
#include "kernels/layers/dropout_mask.h"

static void dropout_forward(const struct layer_call *c)
{
    dropout_mask_forward(c, NULL);
}

const struct layer_kernel layer_dropout = {
    .name = "dropout",
    .saved_bytes = dropout_mask_bytes,
    .forward = dropout_forward,
    .backward = dropout_mask_backward,
};
