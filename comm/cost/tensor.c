#include "comm/cost/tensor.h"

#include "comm/cost/collectives.h"

struct tensor_numbers tensor_numbers(const struct net_desc *net)
{
    struct tensor_numbers n = {0};
    struct net_pair pair = NET_PAIR_NONE;
    while (net_pair_next(net, &pair)) {
        const struct layer_desc *columns = &net->layers[pair.columns];
        n.forward += shape_count(net->layers[pair.rows].out);
        n.sums++;
        if (columns->first_tensor == 0)
            continue;
        n.backward += shape_count(columns->in);
        n.sums++;
    }
    return n;
}

void tensor_add_sum(struct cost *c, int slice, int slices, enum allreduce_algorithm algorithm,
                    size_t count, size_t width)
{
    const struct participant p = {.rank = slice, .ranks = slices};
    bool used[ALGORITHMS] = {false};
    add_allreduce_call(c, &p, CALL_BLOCKING, algorithm, count, width, used);
    if (count > 0)
        c->wire_source = allreduce_source(used);
}
