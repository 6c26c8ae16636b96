/* Network of a rank, and the part of it that this rank computes. */
#pragma once

#include "bench/workloads/checkpoint/checkpoint.h"
#include "bench/workloads/train_cnn/parts/weights16.h"
#include "bench/workloads/train_cnn/slice.h"
#include "bench/workloads/train_cnn/stage.h"
#include "kernels/net/net.h"

struct model {
    const struct net_desc *desc;     /* whole net. Set by the caller, borrowed */
    const struct net_desc *computed; /* net that this rank computes: desc or a slice of it */
    enum isa isa;                    /* equal on all ranks */
    struct exec exec;
    struct slice slice;
    struct net *net;
    struct stage stage;            /* ops of the net that this rank computes */
    struct checkpoint_parts parts; /* tensors of the net that this rank holds, for checkpoints */
    int slot;                      /* activation slot that the current part of a step uses */
    struct weights16 weights;      /* weights that ops compute with */
};
