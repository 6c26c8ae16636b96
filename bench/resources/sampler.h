/* Samples the resources of a node during a launch, in a process of its own. The sampler is a child
 * of no rank, so no program waits for an unexpected child. It keeps none of the launch's files
 * open, since a launcher would wait for them. It is bound to no processor. It ends with the process
 * that started it, even if that process is killed. */
#pragma once

#include <sys/types.h>

#include "kernels/base/error.h"

struct sampler_options {
    double interval_s;
    const char *folder; /* folder of the file node.R.jsonl */
    long rank;          /* R in the name of the file */
    const char *nic;    /* interface that carries MPI; NULL: the default route's, or the only one */
    pid_t launcher;     /* parent of the ranks on this node */
};

/* Starts sampling; it ends with the calling process, also after an exec. ERR_SYSTEM if the file
 * cannot be written, ERR_ARGUMENT if the interface does not exist. */
enum status sampler_start(const struct sampler_options *options, struct error *e);
