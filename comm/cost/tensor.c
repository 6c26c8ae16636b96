#include "comm/cost/tensor.h"

#include "comm/cost/library.h"

static size_t numbers_forward(const struct net_desc *net, const struct net_pair *pair)
{
    return shape_count(net->layers[pair->rows].out);
}

/* Returns the size of the input gradient of a pair's first layer, in numbers per image. 0: no
 * earlier layer has parameters, so the gradient is not needed. */
static size_t numbers_backward(const struct net_desc *net, const struct net_pair *pair)
{
    const struct layer_desc *columns = &net->layers[pair->columns];
    return columns->first_tensor > 0 ? shape_count(columns->in) : 0;
}

static void give_sum_of(struct reader *to, enum allreduce_algorithm algorithm, int slices,
                        size_t count, size_t width)
{
    reader_give(to, library_allreduce(algorithm, CALL_BLOCKING, slices, count, width));
}

void tensor_program(const struct net_desc *net, int slices, enum allreduce_algorithm algorithm,
                    size_t images, size_t width, struct reader *reader)
{
    struct net_pair pair = NET_PAIR_NONE;
    while (net_pair_next(net, &pair)) {
        size_t backward = numbers_backward(net, &pair);
        give_sum_of(reader, algorithm, slices, images * numbers_forward(net, &pair), width);
        if (images * backward > 0)
            give_sum_of(reader, algorithm, slices, images * backward, width);
    }
}
