/* Reads the share of this node that Slurm gave to the job. Private to bench/place and its tests. */
#pragma once

#include "bench/place/place.h"

struct slurm_share {
    int cpus;             /* CPUs of the job on this node, in Slurm's unit; 0: no job */
    int threads_per_core; /* hardware threads per core that Slurm counts; 0: not given */
    int nodes;            /* nodes of the job; 0: no job */
};

/* Reads SLURM_CPUS_ON_NODE, or if that is not set, entry SLURM_NODEID of SLURM_JOB_CPUS_PER_NODE
 * ("72(x2),36"); also SLURM_THREADS_PER_CORE and SLURM_JOB_NUM_NODES. ERR_ARGUMENT if a variable is
 * malformed: an unreadable limit must not count as no limit. */
enum status slurm_share_read(struct slurm_share *share, struct error *e);

/* Sets the share of the machine that the Slurm job has, and updates the machine's usable cores. */
void place_limit_slurm(struct place *place, struct slurm_share share);
