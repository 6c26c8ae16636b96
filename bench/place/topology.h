/* Topology of the machine's processors (cores, caches, NUMA nodes), shared by the files of
 * bench/place. */
#pragma once

#include <hwloc.h>

#include "bench/place/place.h"

struct place_core {
    hwloc_const_cpuset_t cpus; /* usable hardware threads of the core; borrowed from the topology */
    hwloc_const_cpuset_t numa_cpus; /* usable hardware threads of the core's NUMA node; borrowed */
    int numa;                       /* logical index of the core's NUMA node */
    int cache; /* index of the core's L3 cache; -1 - `numa` if the core has no L3 cache */
};

struct place {
    /* the machine's topology, restricted to the processors that this process may use */
    hwloc_topology_t topology;
    /* [machine.cores] usable cores in hwloc's order: cores of one cache or NUMA node are
     * consecutive */
    struct place_core *cores;
    struct place_machine machine;
    int machine_hwthreads; /* hardware threads of the whole machine */
    /* hardware threads per core that Slurm counts; 0: as many as the machine has */
    int slurm_threads_per_core;
};
