/* Trial before any measurement: two ranks must start as one MPI job. The most frequent problem on
 * clusters is a launcher that does not match the ranks' MPI library. With such a launcher, each
 * rank starts as a job of its own. */
#pragma once

#include "bench/runner/campaign.h"

/* Tries each launcher that the spec names for site slurm. For `auto`, sets c->allocation.launcher
 * to the first launcher that works. Logs are written to the run's folder. ERR_UNAVAILABLE with the
 * reasons if a named launcher fails, or if no launcher works for `auto`. */
enum status trial_run(struct campaign *c, struct error *e);
