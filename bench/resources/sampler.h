/* Samples of a node beside a launch, in a process of their own. It is nobody's child, so that no program meets
 * one that it did not start; it keeps no file of the launch open, for which a launcher would wait; it runs on
 * whatever processors it was given, bound to none; and it ends with the process that started it, however that
 * one ends. */
#pragma once

#include <sys/types.h>

#include "kernels/base/error.h"

struct sampler_options {
    double interval_s;
    const char *folder; /* where node.R.jsonl goes */
    long rank;          /* R */
    const char *nic;    /* interface that carries MPI; NULL: the default route's, or the only one */
    pid_t launcher;     /* whose children the ranks of this node are */
};

/* Starts sampling until the calling process ends, which may become another program meanwhile. ERR_SYSTEM where
 * the file cannot be written, ERR_ARGUMENT where there is no such interface. */
enum status sampler_start(const struct sampler_options *options, struct error *e);
