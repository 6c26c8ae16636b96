/* What the Slurm site does with the nodes of a job. */
#pragma once

#include <time.h>

#include "bench/sites/site.h"

/* Prepares a launch of two ranks of the job's program without arguments, on two nodes where the allocation has them,
 * ready to execute; `launch` has no plan. `since`: from when on its cleanup takes what lies in shared memory for its own;
 * 0: from now. */
enum status slurm_prepare_trial(const struct site_job *job, enum launcher_kind kind, time_t since,
                                struct site_launch *launch, struct error *e);
