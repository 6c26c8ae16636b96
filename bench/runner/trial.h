/* Trial before any measurement: two ranks must start as one MPI job. If a launcher does not match
 * the ranks' MPI library, each rank starts as a job of its own. */
#pragma once

#include "bench/runner/campaign.h"

/* Tries each launcher that the spec names for site slurm. For `auto`, sets c->allocation.launcher
 * to the first that works. Writes logs to the run's folder. ERR_UNAVAILABLE with the reasons if a
 * named launcher fails, or if none works for `auto`. */
enum status trial_run(struct campaign *c, struct error *e);
