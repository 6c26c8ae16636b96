/* Samples the resources of a node during a launch, in a separate process. The sampler is neither a
 * child of a rank nor bound to a processor. It closes inherited files, since a launcher waits until
 * all are closed. It ends with the process that started it, even if that process is killed. */
#pragma once

#include <sys/types.h>

#include "kernels/base/error.h"

struct sampler_options {
    double interval_s;
    const char *folder; /* folder to which node.R.jsonl is written; R is the member `rank` */
    long rank;          /* R in the file name node.R.jsonl, a rank of the node */
    /* network interface that carries MPI; NULL: interface of the default route or, without such a
     * route, the only interface besides the loopback that has traffic */
    const char *nic;
    pid_t launcher; /* process that is the parent of the ranks on this node */
};

/* Starts sampling. Sampling ends when the calling process ends, even if it has called exec.
 * ERR_SYSTEM if fork fails or the file cannot be opened, ERR_ARGUMENT if network interface `nic`
 * does not exist. */
enum status sampler_start(const struct sampler_options *options, struct error *e);
