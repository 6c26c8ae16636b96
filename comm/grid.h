/* Arranges ranks as a grid data x pipeline x tensor. The ranks of one replica hold one network: it
 * is cut into pipeline stages, and each stage into slices. Ranks with the same stage and slice, one
 * per replica, hold the same weights; a strategy sums their gradients. Slices of one stage are
 * neighbouring ranks, because they wait for each other most often. Replicas of a stage are the next
 * nearest ranks, because replicas exchange more bytes than stages. */
#pragma once

#include <mpi.h>

#include "comm/wait/wait.h"

struct grid {
    int stage, stages; /* stage of this rank in the pipeline; number of stages */
    /* replica to which this rank belongs; number of replicas, each of which trains on a part of the
     * batch */
    int replica, replicas;
    int slice, slices; /* slice of this rank in layers with tensor parallelism; number of slices */
    /* ranks with this stage and slice, ordered by replica; comm itself if there is one stage and
     * one slice */
    MPI_Comm data;
    /* ranks with this replica and slice, ordered by stage; MPI_COMM_NULL if there is one stage */
    MPI_Comm pipeline;
    /* ranks with this replica and stage, ordered by slice; MPI_COMM_NULL if there is one slice */
    MPI_Comm tensor;
};

/* Returns the position of `rank` in the grid. `ranks` is the number of ranks, a multiple of stages
 * times slices. Makes no MPI call; grid_open creates the communicators. */
struct grid grid_place(int rank, int ranks, int stages, int slices);

/* Creates the communicators of a placed grid from `comm`, and sets w->free_running, because stages
 * make different numbers of waits. With one stage and one slice, only sets g->data to `comm`.
 * Collective. Call grid_close in any case, before the waiter is closed; grid_close accepts a zeroed
 * grid. */
enum status grid_open(struct grid *g, struct waiter *w, MPI_Comm comm, struct error *e);
void grid_close(struct grid *g, struct waiter *w);
