/* Messages of tensor parallelism (kernels/desc/net_slice.h), which slices pairs of dense layers.
 * For each micro-batch and each pair, the slices sum the second layer's outputs in forward and, if
 * needed, the gradients of the first layer's inputs in backward. Plain functions without MPI. */
#pragma once

#include "comm/cost/program.h"
#include "kernels/desc/net_slice.h"

/* Passes to the reader the allreduces of a micro-batch of `images` images. All slices take part in
 * each allreduce. Each pair of sliced layers has one allreduce in forward and, if its input
 * gradient is needed, one in backward. `width`: bytes per number. */
void tensor_program(const struct net_desc *net, int slices, enum allreduce_algorithm algorithm,
                    size_t images, size_t width, struct reader *reader);
