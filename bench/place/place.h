/* Assigns cores to ranks. place_make_plan chooses among the processors that this process may use.
 * The program build/pin binds each rank. Only this folder uses hwloc. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "bench/spec/enumerations.h"
#include "kernels/base/error.h"

/* The part of the machine that this process may use: the smallest of affinity mask, cgroup quota
 * and Slurm share. The Slurm share matters where Slurm does not bind jobs to processors. Slurm
 * counts hardware threads unless SLURM_THREADS_PER_CORE is 1. */
struct place_machine {
    int cores;          /* physical cores with a usable hardware thread */
    int hwthreads;      /* usable hardware threads */
    int numa_nodes;     /* NUMA nodes with a usable core */
    double quota_cores; /* cgroup quota in cores; 0: none */
    int slurm_cpus;     /* CPUs of the Slurm job on this node, as Slurm counts them (hardware
                           threads or cores); 0: no job */
    int usable_cores;   /* min(cores, floor(quota_cores), slurm_cpus in cores), at least 1 */
    int machine_cores;  /* cores of the whole machine */
    int slurm_nodes;    /* nodes of the Slurm job, including this node; 0: no job */
};

/* Processors of one rank. `cpus` lists OS processor numbers, such as "0" or "0-3,8"; empty for
 * BIND_none. */
struct place_slot {
    char cpus[256];
    int core, numa; /* logical indices of the first core and of its NUMA node */
};

struct place_plan {
    struct place_slot *slots; /* [ranks]: one slot per rank */
    int ranks, threads_per_rank;
    bool oversubscribed; /* whether there are more threads than usable cores */
};

struct place;

/* Loads the topology; close with place_close. `xml`: NULL for this machine; for tests, a file in
 * hwloc's XML or a synthetic machine such as "synthetic:numa:2 core:4 pu:2". A test's machine has
 * no cgroup quota and no Slurm job. */
enum status place_open(struct place **place, const char *xml, struct error *e);
void place_close(struct place *place);
struct place_machine place_machine(const struct place *place);

/* Assigns cores of this node to `ranks` ranks of `threads` threads each. Free with place_plan_free.
 * ERR_UNAVAILABLE if there are more threads than usable cores and `oversubscribe` is false. */
enum status place_make_plan(const struct place *place, int ranks, int threads, enum place_bind bind,
                            enum place_order order, bool oversubscribe, struct place_plan *plan,
                            struct error *e);
void place_plan_free(struct place_plan *plan);

/* Returns the number of tasks of this Slurm step on this node; 0 outside a step. */
int place_slurm_tasks(void);

/* Binds the calling thread to a list of processors; "": does nothing. Threads and processes that it
 * creates later inherit the binding. */
enum status place_bind_self(const char *cpus, struct error *e);

/* Writes the processors that the calling thread may use, as a list such as "0-3,8". */
enum status place_read_back(char *cpus, size_t size, struct error *e);

/* Writes the version of hwloc, such as "hwloc API 2.8.0", into text; returns text. */
char *place_library(char text[32]);
