/* Network of a rank, and the part of the network (ops and tensors) that the rank computes. */
#pragma once

#include "bench/workloads/checkpoint/checkpoint.h"
#include "bench/workloads/train_cnn/parts/weights16.h"
#include "bench/workloads/train_cnn/slice.h"
#include "bench/workloads/train_cnn/stage.h"
#include "kernels/net/net.h"

struct model {
    const struct net_desc *desc; /* whole network; set by the caller, borrowed */
    /* network that this rank computes: `desc` or a tensor slice of it */
    const struct net_desc *computed;
    enum isa isa; /* instruction set, equal on all ranks */
    struct exec exec;
    struct slice slice;
    struct net *net;
    struct stage stage;            /* pipeline stage: range of ops that this rank computes */
    struct checkpoint_parts parts; /* tensors that this rank saves in checkpoints */
    int slot;                      /* index of the activation buffers of the current micro-batch */
    struct weights16 weights;      /* weights in the form that ops read: 16-bit or full precision */
};
