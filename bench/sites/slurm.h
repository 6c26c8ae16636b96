/* Prepares a trial launch on the nodes of a Slurm job, to find out whether a launcher works
 * there. */
#pragma once

#include <time.h>

#include "bench/sites/site.h"

/* Prepares a launch of two ranks of job->program without arguments, if possible on two nodes.
 * Leaves launch->plan empty. launch->cleanup removes shared memory made after `since` (0: after
 * this call). */
enum status slurm_prepare_trial(const struct site_job *job, enum launcher_kind kind, time_t since,
                                struct site_launch *launch, struct error *e);
