/* Reads the share of this node that Slurm gave to the job. Private to bench/place and its tests. */
#pragma once

#include "bench/place/place.h"

struct slurm_share {
    int cpus;             /* CPUs (cores or hardware threads) of the job on this node; 0: no job */
    int threads_per_core; /* hardware threads per core that Slurm counts; 0: not given */
    int nodes;            /* nodes of the job; 0: no job */
};

/* Reads SLURM_CPUS_ON_NODE, SLURM_THREADS_PER_CORE and SLURM_JOB_NUM_NODES. Without
 * SLURM_CPUS_ON_NODE, reads the CPUs of node SLURM_NODEID from SLURM_JOB_CPUS_PER_NODE, such as
 * "72(x2),36". ERR_ARGUMENT if a variable is malformed. */
enum status slurm_share_read(struct slurm_share *share, struct error *e);

/* Stores the Slurm job's share of this node in `place` and updates the machine's usable cores. */
void place_limit_slurm(struct place *place, struct slurm_share share);
