/* Tensor parallelism: ranks that share out pairs of dense layers (kernels/desc/net_slice.h) sum, in each
 * micro-batch, what the second layer of a pair gives, and what the first one hands back. What that sends, as plain
 * functions, no MPI. */
#pragma once

#include "comm/cost/program.h"
#include "kernels/desc/net_slice.h"

/* Numbers of an image that are summed: those that the second layers of all pairs give forward; those that the first
 * ones take backward, but for one with no parameters before it, where nobody wants that gradient. */
struct tensor_numbers {
    size_t forward, backward;
    int sums; /* in a micro-batch, in both directions */
};
struct tensor_numbers tensor_numbers(const struct net_desc *net);

/* Gives the allreduces of all slices in a micro-batch of `images` images to the reader. */
void tensor_program(const struct net_desc *net, int slices, enum allreduce_algorithm algorithm,
                    size_t images, size_t width, struct reader *reader);
