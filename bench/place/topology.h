/* The loaded machine, shared by the files of bench/place. */
#pragma once

#include <hwloc.h>

#include "bench/place/place.h"

struct place_core {
    hwloc_const_cpuset_t cpus;      /* its usable hardware threads; borrowed from the topology */
    hwloc_const_cpuset_t numa_cpus; /* those of its NUMA node */
    int numa;                       /* logical index of the node */
    int cache; /* which last-level cache it shares: any number, equal when shared */
};

struct place {
    hwloc_topology_t topology; /* restricted to what this process may use */
    struct place_core *cores;  /* [machine.cores] in hwloc's logical order: neighbours are near */
    struct place_machine machine;
    int machine_hwthreads;      /* of the whole machine */
    int slurm_threads_per_core; /* that Slurm counts; 0: those of the machine */
};
