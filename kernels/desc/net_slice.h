/* A net whose dense layers several ranks share out, each with a slice of them (tensor parallelism; Shoeybi et
 * al., "Megatron-LM", 2019). They come in pairs with layers between that work on each number by itself: a slice
 * has some outputs of the first layer, the columns of its matrix, and of the second the weights that take
 * these in, its rows. What the second gives is to be summed over the slices, forward, and so is the gradient by
 * the inputs of the first, backward. All other layers a slice has whole. */
#pragma once

#include "kernels/desc/net_desc.h"

/* Two dense layers, by their numbers in the net. */
struct net_pair {
    int columns, rows;
};

/* Before the first pair. The first layer that can be one of a pair is: of three in a row the last stays whole. */
#define NET_PAIR_NONE                                                                              \
    (struct net_pair)                                                                              \
    {                                                                                              \
        .columns = -1, .rows = -1                                                                  \
    }
/* The pair behind *pair; false where there is none. */
bool net_pair_next(const struct net_desc *net, struct net_pair *pair);

/* Slices that the net can be cut into at most, each with an output of every first layer; 1: it has no pair. */
int net_slice_most(const struct net_desc *net);
/* Whether so many slices, of which it has pairs enough, are of the same size. */
bool net_slice_is_even(const struct net_desc *net, int slices);

/* *slice: the net as slice number `index` of `slices` <= net_slice_most has it, layers and tensors by the same names
 * and numbers; shares are equal, or first ones larger by an output; of one slice, a copy. Freed with net_desc_free. */
enum status net_desc_slice(struct net_desc *slice, const struct net_desc *net, int index,
                           int slices, struct error *e);

/* Whether every slice has all of the net's tensor number `tensor`. */
bool net_slice_has_whole(const struct net_desc *net, const struct net_desc *slice, int tensor);
/* Which number of the net's tensor is number i of the slice's. */
size_t net_slice_element(const struct net_desc *net, const struct net_desc *slice, int tensor,
                         size_t i);
