/* What the Slurm site does with the nodes of a job. */
#pragma once

#include <time.h>

#include "bench/sites/site.h"

/* Two ranks of a program without arguments, on two nodes where the job has them. All borrowed. */
struct slurm_trial {
    const struct allocation *allocation;
    const struct launcher *launcher;
    const struct config *config; /* of a point, for the options of its site */
    enum launcher_kind kind;
    const char *program, *pin;
    time_t
        since; /* from when on its cleanup takes what lies in shared memory for its own; 0: from now */
};

/* Prepares it, ready to execute; `launch` has no plan. */
enum status slurm_prepare_trial(const struct slurm_trial *trial, struct site_launch *launch,
                                struct error *e);
