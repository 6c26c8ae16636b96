#include "kernels/ops/conv3x3.h"

static bool is_conv3x3(const struct layer_desc *l)
{
    return l->kind == LAYER_conv2d && l->kernel_h == 3 && l->kernel_w == 3 && l->stride_h == 1 &&
           l->stride_w == 1;
}

static bool is_relu(const struct layer_desc *l)
{
    return l->kind == LAYER_relu;
}

static bool is_norm(const struct layer_desc *l)
{
    return l->kind == LAYER_batchnorm2d;
}

/* Returns the number of layers that an op fuses, 1 to 3: layers[0], then an optional ReLU, which
 * may have 2x2 pooling directly before or after it. Sets *epilogue. */
static int match_epilogue(const struct layer_desc *layers, int n, enum epilogue *epilogue)
{
    *epilogue = EPILOGUE_NONE;
    bool relu_first = n > 1 && is_relu(&layers[1]), pool_first = n > 1 && is_pool2x2(&layers[1]);
    if (n > 2 && ((relu_first && is_pool2x2(&layers[2])) || (pool_first && is_relu(&layers[2])))) {
        *epilogue = EPILOGUE_RELU_POOL;
        return 3;
    }
    if (relu_first) {
        *epilogue = EPILOGUE_RELU;
        return 2;
    }
    return 1;
}

int norm_match(const struct layer_desc *layers, int n, enum epilogue *epilogue)
{
    return n > 0 && is_norm(layers) ? match_epilogue(layers, n, epilogue) : 0;
}

int conv3x3_match(const struct layer_desc *layers, int n, enum epilogue *epilogue, bool *norm)
{
    if (n < 1 || !is_conv3x3(layers))
        return 0;
    enum epilogue of_norm;
    int taken = norm_match(layers + 1, n - 1, &of_norm);
    *norm = taken > 0;
    if (!*norm)
        return match_epilogue(layers, n, epilogue);
    *epilogue = EPILOGUE_NONE;
    return 1 + taken;
}

/* Returns whether this layer can be computed by an op that reads blocks of channels. */
static bool takes_blocks(const struct layer_desc *l, const struct extent *read)
{
    return is_norm(l) || (is_conv3x3(l) && read->choice != CHOICE_gemm);
}

int conv3x3_match_blocks(const struct layer_desc *layers, int n, const struct extent *read)
{
    enum epilogue epilogue;
    bool norm;
    int taken = conv3x3_match(layers, n, &epilogue, &norm);
    return taken > 0 && taken < n && takes_blocks(&layers[taken], &read[taken]) ? taken : 0;
}

int conv3x3_match_last(const struct layer_desc *layers, int n, const struct extent *read)
{
    enum epilogue epilogue;
    bool norm;
    return conv3x3_match(layers, n, &epilogue, &norm);
}

int norm_match_blocks(const struct layer_desc *layers, int n, const struct extent *read)
{
    enum epilogue epilogue;
    int taken = norm_match(layers, n, &epilogue);
    bool blocks = taken > 0 && taken < n && !is_norm(&layers[taken]);
    return blocks && takes_blocks(&layers[taken], &read[taken]) ? taken : 0;
}

int norm_match_last(const struct layer_desc *layers, int n, const struct extent *read)
{
    enum epilogue epilogue;
    return norm_match(layers, n, &epilogue);
}

struct area area_read(const struct fused_layers *fused, int i)
{
    if (fused->plan != PLAN_EXACT)
        return (struct area){fused->read[i].h, fused->read[i].w};
    struct shape all = i == 0 ? fused->layers->in : fused->layers[i - 1].out;
    return (struct area){all.h, all.w};
}
