/* What Slurm says about the allocation on this node. Inside bench/place and its tests only. */
#pragma once

#include "bench/place/place.h"

struct slurm_share {
    int cpus;             /* that the job was given on this node, as Slurm counts; 0: no job */
    int threads_per_core; /* that Slurm counts, where it says so; 0: it does not */
    int nodes;            /* of the job; 0: no job */
};

/* Reads SLURM_CPUS_ON_NODE, else this node's entry of SLURM_JOB_CPUS_PER_NODE ("72(x2),36", number
 * SLURM_NODEID of it), SLURM_THREADS_PER_CORE and SLURM_JOB_NUM_NODES. ERR_ARGUMENT when one is
 * malformed: a limit that cannot be read must not be taken for none. */
enum status slurm_share_read(struct slurm_share *share, struct error *e);

/* Puts a job's share on a machine: usable cores follow. */
void place_limit_slurm(struct place *place, struct slurm_share share);
