#include "comm/cost/tensor.h"

#include "comm/cost/collectives.h"

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

void tensor_add_sum(struct cost *c, int slice, int slices, enum allreduce_algorithm algorithm,
                    size_t count, size_t width, const struct link_model *model)
{
    const struct participant p = {.rank = slice, .ranks = slices, .model = model};
    bool used[ALGORITHMS] = {false};
    add_allreduce_call(c, &p, CALL_BLOCKING, algorithm, count, width, used);
    if (count > 0)
        c->wire_source = allreduce_source(used);
}

struct cost tensor_cost(const struct net_desc *net, int slice, int slices,
                        enum allreduce_algorithm algorithm, size_t images, size_t width,
                        const struct link_model *model)
{
    struct cost c = {.wire_source = "none"};
    struct net_pair pair = NET_PAIR_NONE;
    while (net_pair_next(net, &pair)) {
        size_t forward = images * numbers_forward(net, &pair);
        size_t backward = images * numbers_backward(net, &pair);
        tensor_add_sum(&c, slice, slices, algorithm, forward, width, model);
        if (backward > 0)
            tensor_add_sum(&c, slice, slices, algorithm, backward, width, model);
    }
    return c;
}
