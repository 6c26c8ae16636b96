/* Messages of tensor parallelism. Slices share pairs of dense layers (kernels/desc/net_slice.h): in each micro-batch they
 * sum the output of a pair's second layer, and in backward the gradient of the first one's input. Plain functions, no
 * MPI. */
#pragma once

#include "comm/cost/program.h"
#include "kernels/desc/net_slice.h"

/* Numbers per image that are summed: outputs of the second layers of all pairs, and gradients of the inputs of the first
 * ones. A first layer without parameters before it needs no such gradient. */
struct tensor_numbers {
    size_t forward, backward;
    int sums; /* in a micro-batch, in both directions */
};
struct tensor_numbers tensor_numbers(const struct net_desc *net);

/* Gives the allreduces of all slices in a micro-batch of `images` images to the reader. */
void tensor_program(const struct net_desc *net, int slices, enum allreduce_algorithm algorithm,
                    size_t images, size_t width, struct reader *reader);
