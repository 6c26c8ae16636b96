/* Main function shared by the trainers train_cnn and peer_onednn. peer_onednn has its own
 * implementation of kernels/net/net.h. */
#pragma once

#include "bench/workloads/train_cnn/arguments.h"

struct train_program {
    const char *name;    /* name in workloads.def, for messages and records */
    const char *library; /* matrix library named in records; NULL: library of kernels/gemm.h */
    /* Rejects options that the program does not support and sets options that it chooses itself.
     * NULL: all options are supported. */
    enum status (*prepare)(struct config *config, struct error *e);
};

/* Trains on all ranks of the launch, or prints help or the answer to a query, as the command line
 * requests. Returns the exit status. */
int train_main(int argc, char **argv, const struct train_program *program);
