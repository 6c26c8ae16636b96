/* A net whose dense layers are split into slices, one per rank (tensor parallelism; Shoeybi et al.,
 * "Megatron-LM", 2019).
 *
 * Dense layers are split in pairs, with only element-wise layers in between. A slice computes some
 * outputs of the first layer (column-parallel in Megatron's terms). The element-wise layers process
 * only these outputs, and the second layer uses only them as inputs (row-parallel). Each pair needs
 * two sums over the slices: in forward the sum of the second layer's outputs, in backward the sum
 * of the gradients of the first layer's inputs. The backward sum is omitted if no earlier layer
 * needs these gradients. All other layers are whole in every slice. */
#pragma once

#include "kernels/desc/net_desc.h"

/* Indices of the two dense layers of a pair. `columns` is split by outputs, `rows` by inputs. */
struct net_pair {
    int columns, rows;
};

/* Initial value of *pair for net_pair_next. Pairs are formed greedily, starting at the input: of
 * three dense layers in a row, the last stays whole. */
#define NET_PAIR_NONE                                                                              \
    (struct net_pair)                                                                              \
    {                                                                                              \
        .columns = -1, .rows = -1                                                                  \
    }
/* Advances *pair to the next pair. Returns false, with *pair unchanged, after the last pair. */
bool net_pair_next(const struct net_desc *net, struct net_pair *pair);

/* Returns the largest number of slices into which the net can be split; 1 if it has no pair of
 * dense layers. The limit is the smallest number of outputs of any pair's first layer. */
int net_slice_most(const struct net_desc *net);
/* Returns whether the net can be split into `slices` slices of equal size. */
bool net_slice_is_even(const struct net_desc *net, int slices);

/* Sets *slice to slice number `index` of `slices`. If slices = 1, *slice is a copy of the net.
 * Layers and tensors keep their names and indices. The first layer of each pair of dense layers is
 * split by outputs: slices differ by at most one output, and larger slices come first. ERR_SHAPE if
 * slices > net_slice_most. Free with net_desc_free. */
enum status net_desc_slice(struct net_desc *slice, const struct net_desc *net, int index,
                           int slices, struct error *e);

/* Returns whether every slice contains the whole of parameter tensor `tensor`. */
bool net_slice_has_whole(const struct net_desc *net, const struct net_desc *slice, int tensor);
/* Converts index i in the slice's part of parameter tensor `tensor` to the index in the whole
 * tensor. */
size_t net_slice_element(const struct net_desc *net, const struct net_desc *slice, int tensor,
                         size_t i);
