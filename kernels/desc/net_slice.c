#include "kernels/desc/net_slice.h"

#include <string.h>

#include "kernels/base/pool.h"

/* ---- Pairs ---- */

static bool is_elementwise(const struct layer_desc *layer)
{
    return layer->kind == LAYER_relu || layer->kind == LAYER_dropout;
}

bool net_pair_next(const struct net_desc *net, struct net_pair *pair)
{
    /* index of the dense layer before layer i with only element-wise layers in between; -1: none */
    int dense = -1;
    for (int i = pair->rows + 1; i < net->n_layers; i++) {
        const struct layer_desc *layer = &net->layers[i];
        if (layer->kind == LAYER_dense && dense >= 0) {
            *pair = (struct net_pair){.columns = dense, .rows = i};
            return true;
        }
        if (layer->kind == LAYER_dense)
            dense = i;
        else if (!is_elementwise(layer))
            dense = -1;
    }
    return false;
}

int net_slice_most(const struct net_desc *net)
{
    struct net_pair pair = NET_PAIR_NONE;
    int most = 0;
    while (net_pair_next(net, &pair)) {
        int outputs = net->layers[pair.columns].channels;
        most = most == 0 || outputs < most ? outputs : most;
    }
    return most > 0 ? most : 1;
}

bool net_slice_is_even(const struct net_desc *net, int slices)
{
    struct net_pair pair = NET_PAIR_NONE;
    bool even = true;
    while (net_pair_next(net, &pair))
        even = even && net->layers[pair.columns].channels % slices == 0;
    return even;
}

/* ---- Slices ---- */

/* Changes `layer`, copied from the net, to the layer of slice `index`. The layer must be one of the
 * two dense layers of `pair` or lie between them. */
static void cut_layer(struct layer_desc *layer, const struct net_desc *net, struct net_pair pair,
                      int index, int slices)
{
    size_t begin, end, outputs = (size_t)net->layers[pair.columns].channels;
    pool_share(outputs, (size_t)index, (size_t)slices, &begin, &end);
    layer->first_unit = (int)begin;
    if (layer->index == pair.columns)
        layer->channels = (int)(end - begin);
    if (layer->index == pair.rows) {
        layer->addend = slices > 1;
        layer->unbiased = index > 0;
    }
}

static enum status add_layers(struct net_desc *slice, const struct net_desc *net, int index,
                              int slices, struct error *e)
{
    struct net_pair pair = NET_PAIR_NONE;
    bool more = net_pair_next(net, &pair);
    for (int i = 0; i < net->n_layers; i++) {
        struct layer_desc layer = net->layers[i];
        if (more && i >= pair.columns)
            cut_layer(&layer, net, pair, index, slices);
        if (more && i == pair.rows)
            more = net_pair_next(net, &pair);
        TRY(net_desc_add(slice, &layer, e));
    }
    return net_desc_end(slice, e);
}

enum status net_desc_slice(struct net_desc *slice, const struct net_desc *net, int index,
                           int slices, struct error *e)
{
    *slice = (struct net_desc){.n_layers = 0};
    if (slices > net_slice_most(net))
        return error_set(e, ERR_SHAPE, "net '%s' cannot be cut into %d slices; use 1 to %d",
                         net->name, slices, net_slice_most(net));
    TRY(net_desc_begin(slice, net->name, net->input, net->classes, e));
    memcpy(slice->mean, net->mean, sizeof slice->mean);
    memcpy(slice->std, net->std, sizeof slice->std);
    slice->initializer = net->initializer;
    enum status status = add_layers(slice, net, index, slices, e);
    if (status != OK)
        net_desc_free(slice);
    return status;
}

/* ---- Tensors ---- */

bool net_slice_has_whole(const struct net_desc *net, const struct net_desc *slice, int tensor)
{
    return net->tensors[tensor].count == slice->tensors[tensor].count;
}

/* If a layer is split by outputs, a slice has a range of rows of the weights [outputs, inputs] and
 * the same range of biases. If the layer is split by inputs, a slice has a range of columns. */
size_t net_slice_element(const struct net_desc *net, const struct net_desc *slice, int tensor,
                         size_t i)
{
    const struct tensor_desc *all = &net->tensors[tensor], *own = &slice->tensors[tensor];
    size_t first = (size_t)slice->layers[own->layer].first_unit;
    if (net_slice_has_whole(net, slice, tensor))
        return i;
    if (own->dims[0] != all->dims[0])
        return i + first * (all->count / (size_t)all->dims[0]);
    size_t inputs = (size_t)own->dims[1];
    return i / inputs * (size_t)all->dims[1] + first + i % inputs;
}
