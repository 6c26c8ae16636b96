/* The net of a rank, and what of it the rank computes. */
#pragma once

#include "bench/workloads/checkpoint/checkpoint.h"
#include "bench/workloads/train_cnn/parts/weights16.h"
#include "bench/workloads/train_cnn/slice.h"
#include "bench/workloads/train_cnn/stage.h"
#include "kernels/net/net.h"

struct model {
    const struct net_desc *desc;     /* the whole net. By the caller, borrowed */
    const struct net_desc *computed; /* what `net` is made from: desc, or a slice of it */
    enum isa isa;                    /* the same on all ranks */
    struct exec exec;
    struct slice slice;
    struct net *net;
    struct stage stage;            /* what of the net this rank computes */
    struct checkpoint_parts parts; /* the same, as checkpoints see it */
    int slot;                      /* the set of activations that the parts of a step work on */
    struct weights16 weights;      /* what ops compute with */
};
