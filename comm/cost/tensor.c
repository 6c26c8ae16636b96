#include "comm/cost/tensor.h"

static size_t numbers_forward(const struct net_desc *net, const struct net_pair *pair)
{
    return shape_count(net->layers[pair->rows].out);
}

/* 0: nobody wants that gradient. */
static size_t numbers_backward(const struct net_desc *net, const struct net_pair *pair)
{
    const struct layer_desc *columns = &net->layers[pair->columns];
    return columns->first_tensor > 0 ? shape_count(columns->in) : 0;
}

struct tensor_numbers tensor_numbers(const struct net_desc *net)
{
    struct tensor_numbers n = {0};
    struct net_pair pair = NET_PAIR_NONE;
    while (net_pair_next(net, &pair)) {
        n.forward += numbers_forward(net, &pair);
        n.backward += numbers_backward(net, &pair);
        n.sums += 1 + (numbers_backward(net, &pair) > 0);
    }
    return n;
}

struct cost tensor_cost(const struct net_desc *net, int slice, int slices,
                        enum allreduce_algorithm algorithm, size_t images, size_t width,
                        const struct link_model *model)
{
    const struct strategy_config config = {.algorithm = algorithm};
    struct cost c = {.wire_source = "none"};
    struct net_pair pair = NET_PAIR_NONE;
    while (net_pair_next(net, &pair)) {
        size_t forward = images * numbers_forward(net, &pair);
        size_t backward = images * numbers_backward(net, &pair);
        cost_add_sum(&c, &config, slice, slices, forward, width, model);
        if (backward > 0)
            cost_add_sum(&c, &config, slice, slices, backward, width, model);
    }
    return c;
}
