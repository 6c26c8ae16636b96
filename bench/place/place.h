/* Which cores a rank gets: planned with hwloc inside the set this process inherited, bound by
 * build/pin, read back by the rank. The only user of hwloc. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "bench/spec/enumerations.h"
#include "kernels/base/error.h"

/* What this process may use: the smallest of its affinity mask, its cgroup quota and, in a Slurm
 * job, what Slurm gave it on this node (Slurm itself confines nothing where a site does not bind).
 * Slurm's CPUs are hardware threads, unless SLURM_THREADS_PER_CORE says otherwise. */
struct place_machine {
    int cores;          /* physical cores with a usable hardware thread */
    int hwthreads;      /* usable hardware threads */
    int numa_nodes;     /* that hold them */
    double quota_cores; /* cgroup quota in cores; 0: none */
    int slurm_cpus;     /* of the Slurm job on this node, as Slurm counts; 0: no job */
    int usable_cores;   /* min(cores, floor(quota), cores of slurm_cpus), at least 1 */
    int machine_cores;  /* of the whole machine */
    int slurm_nodes;    /* of the Slurm job, this one among them; 0: no job */
};

/* One rank's share. `cpus` is a list of OS processor numbers in Linux list form, "0" or "0-3,8";
 * empty for BIND_none. */
struct place_slot {
    char cpus[256];
    int core, numa; /* logical index of the first core and its NUMA node */
};

struct place_plan {
    struct place_slot *slots; /* [ranks] */
    int ranks, threads_per_rank;
    bool oversubscribed; /* more threads than usable cores */
};

struct place;

/* Loads the topology. `xml` is NULL, or for tests names a recorded machine (hwloc's XML) or
 * describes one ("synthetic:numa:2 core:4 pu:2", hwloc's synthetic form): such a machine has no
 * cgroup quota and no Slurm job, and is whole but for processors that its XML disallows. */
enum status place_open(struct place **place, const char *xml, struct error *e);
void place_close(struct place *place);
struct place_machine place_machine(const struct place *place);

/* Plans `ranks` x `threads` on this node. ERR_UNAVAILABLE with a sentence for people when there are
 * fewer cores than threads and `oversubscribe` is false. */
enum status place_make_plan(const struct place *place, int ranks, int threads, enum place_bind bind,
                            enum place_order order, bool oversubscribe, struct place_plan *plan,
                            struct error *e);
void place_plan_free(struct place_plan *plan);

/* How many tasks of a Slurm step run on this node; 0: this is not one of them. */
int place_slurm_tasks(void);

/* Binds the calling thread, and what it starts, to a cpu list. */
enum status place_bind_self(const char *cpus, struct error *e);

/* Reads back what the calling thread may run on, as a cpu list. */
enum status place_read_back(char *cpus, size_t size, struct error *e);

/* "hwloc API 2.8.0" into text; returns text. */
char *place_library(char text[32]);
