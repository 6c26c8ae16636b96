/* Topology of the machine, shared by the files of bench/place. */
#pragma once

#include <hwloc.h>

#include "bench/place/place.h"

struct place_core {
    hwloc_const_cpuset_t cpus; /* usable hardware threads of the core; borrowed from the topology */
    hwloc_const_cpuset_t numa_cpus; /* usable hardware threads of its NUMA node; borrowed */
    int numa;                       /* logical index of the NUMA node */
    int cache; /* number of its last-level cache: equal for cores that share it */
};

struct place {
    hwloc_topology_t topology; /* restricted to the processors that this process may use */
    struct place_core *cores;  /* [machine.cores] in hwloc's order: neighbours are near */
    struct place_machine machine;
    int machine_hwthreads;      /* hardware threads of the whole machine */
    int slurm_threads_per_core; /* threads per core in Slurm's count; 0: as the machine */
};
