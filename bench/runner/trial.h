/* Whether two ranks come up as one job, tried before any time is spent: that a launcher and the library of
 * the ranks do not speak with each other, so that each rank is a job of its own, is what users of clusters
 * meet most. */
#pragma once

#include "bench/runner/campaign.h"

/* Where points run on the nodes of a job of Slurm: finds the launcher that works, or makes sure of those
 * that the spec names. ERR_UNAVAILABLE with what each of them did where none does. Logs are left in the
 * folder of the run. */
enum status trial_run(struct campaign *c, struct error *e);
