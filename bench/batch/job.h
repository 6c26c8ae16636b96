/* Finds the batch job that a command runs in and moves the command to the job's nodes. If there is
 * no job, explains how to submit one. */
#pragma once

#include "bench/runner/campaign.h"

/* If this process runs in salloc's shell outside the job's nodes, replaces this process by the same
 * command on the job's first node. Otherwise returns OK. */
enum status job_move(const struct tools *tools, char *const *command, struct error *e);

/* Returns ERR_UNAVAILABLE, with the sbatch command to type, if points need a Slurm job and none
 * exists. */
enum status job_check(const struct campaign *c, struct error *e);
