/* Every channel of an image by itself: Tompson et al., "Efficient object localization using
 * convolutional networks", CVPR 2015. */
#include "kernels/layers/dropout_mask.h"

const struct layer_kernel layer_dropout2d = {
    .saved_bytes = dropout_mask_bytes,
    .forward = dropout_mask_forward,
    .backward = dropout_mask_backward,
};
