/* Trial before any measurement: two ranks must start as one job. The most frequent problem on
 * clusters is a launcher that does not match the ranks' MPI library: each rank then becomes a
 * job of its own. */
#pragma once

#include "bench/runner/campaign.h"

/* Finds a launcher that works for points on nodes of a Slurm job, or tries the launchers that
 * the spec names. ERR_UNAVAILABLE with the result of each if none works. Logs are left in the
 * folder of the run. */
enum status trial_run(struct campaign *c, struct error *e);
