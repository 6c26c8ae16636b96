/* Messages of tensor parallelism. Slices share pairs of dense layers (kernels/desc/net_slice.h):
 * for each micro-batch, slices sum the output of a pair's second layer in forward, and the input
 * gradient of the pair's first layer in backward. Plain functions without MPI. */
#pragma once

#include "comm/cost/program.h"
#include "kernels/desc/net_slice.h"

/* Passes to the reader the allreduces over all slices in a micro-batch of `images` images. Each
 * pair has one allreduce for the second layer's output and, if needed, one for the first layer's
 * input gradient. `width`: bytes per number. */
void tensor_program(const struct net_desc *net, int slices, enum allreduce_algorithm algorithm,
                    size_t images, size_t width, struct reader *reader);
