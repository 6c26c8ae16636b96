/* The job of a batch system that a command is typed in, or should be. */
#pragma once

#include "bench/runner/campaign.h"

/* In a shell of salloc on another machine than the job's nodes: becomes the same command on the first of
 * them, whose cores and caches are those that are measured. Returns OK where it already runs on one, or
 * there is no job. */
enum status job_move(const struct tools *tools, char *const *command, struct error *e);

/* Where points want nodes of a job and there is none: ERR_UNAVAILABLE with the line to type. */
enum status job_check(const struct campaign *c, struct error *e);
