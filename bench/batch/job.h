/* Batch job in which a command runs, or should run. */
#pragma once

#include "bench/runner/campaign.h"

/* In a shell of salloc outside the job's nodes, replaces this process with the same command on
 * the job's first node. Cores and caches of that node are then measured. Returns OK if it
 * already runs on a node of the job, or if there is no job. */
enum status job_move(const struct tools *tools, char *const *command, struct error *e);

/* Returns ERR_UNAVAILABLE with the sbatch command to type, if points need a job's nodes and
 * there is no job. */
enum status job_check(const struct campaign *c, struct error *e);
