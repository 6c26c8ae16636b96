#include "kernels/desc/rules.h"

static const struct layer_option options[] = {
    {"epsilon", LAYER_REAL, offsetof(struct layer_desc, epsilon), 1e-12, 1, 1e-5,
     "added to the variance before its square root"},
    {"momentum", LAYER_REAL, offsetof(struct layer_desc, momentum), 0, 1, 0.1,
     "weight of a new batch in the running statistics"},
    {.key = NULL},
};

static struct tensor_desc channel_tensor(const struct layer_desc *layer, const char *name)
{
    struct tensor_desc t = {.n_dims = 1,
                            .dims = {layer->in.c},
                            .fan_in = (size_t)layer->in.c,
                            .fan_out = (size_t)layer->in.c,
                            .norm = true};
    snprintf(t.name, sizeof t.name, "%s", name);
    return t;
}

static int tensors(const struct layer_desc *layer, struct tensor_desc list[2])
{
    list[0] = channel_tensor(layer, "weight");
    list[1] = channel_tensor(layer, "bias");
    list[1].bias = true;
    return 2;
}

/* Describes batch norm's two buffers, named as in PyTorch's checkpoints; returns their number. A
 * buffer starts at 0 if its `bias` is set (the mean), else at 1 (the variance). */
static int buffers(const struct layer_desc *layer, struct tensor_desc list[2])
{
    list[0] = channel_tensor(layer, "running_mean");
    list[0].bias = true;
    list[1] = channel_tensor(layer, "running_var");
    return 2;
}

const struct layer_rule layer_rule_batchnorm2d = {
    .shapes = "[C, H, W] to [C, H, W]; weight [C], bias [C], running_mean [C], running_var [C]",
    .options = options,
    .infer = layer_keep_shape,
    .tensors = tensors,
    .buffers = buffers,
};
