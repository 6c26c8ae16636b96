/* Moves a command that was started in salloc's shell, outside the nodes of its Slurm job, to the
 * job's first node. If points need a job and there is none, explains how to submit one. */
#pragma once

#include "bench/runner/campaign.h"

/* If this process runs in salloc's shell outside the job's nodes, replaces this process by the same
 * command on the job's first node. Otherwise returns OK. ERR_UNAVAILABLE if srun cannot be run. */
enum status job_move(const struct tools *tools, char *const *command, struct error *e);

/* Returns ERR_UNAVAILABLE, with the sbatch command to type, if points need a Slurm job and none
 * exists. */
enum status job_check(const struct campaign *c, struct error *e);
