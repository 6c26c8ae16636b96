/* Arranges ranks as a grid data x pipeline x tensor. The ranks of one replica hold one network:
 * pipeline stages, each split into slices. Ranks of the same stage and slice, one per replica,
 * hold the same weights; a strategy sums their gradients. Neighbouring ranks are slices of one
 * stage, because slices wait for each other in every shared layer. Replicas come next, because
 * they sum more bytes than stages send. */
#pragma once

#include <mpi.h>

#include "comm/wait/wait.h"

struct grid {
    int stage, stages; /* this rank's stage of the pipeline, number of stages */
    /* this rank's replica of the network, number of replicas; each trains a share of every batch */
    int replica, replicas;
    int slice, slices; /* this rank's slice of shared layers, number of slices */
    /* ranks of this stage and slice, by replica; comm itself if there is one stage and one slice */
    MPI_Comm data;
    MPI_Comm pipeline; /* ranks of this replica and slice, by stage; MPI_COMM_NULL for one stage */
    MPI_Comm tensor;   /* ranks of this replica and stage, by slice; MPI_COMM_NULL for one slice */
};

/* Returns the position of `rank` among `ranks`, a multiple of stages times slices. Makes no MPI
 * call: grid_open creates the communicators. */
struct grid grid_place(int rank, int ranks, int stages, int slices);

/* Creates the communicators of a placed grid from comm; creates none if each rank is a replica.
 * Collective. Sets w->free_running, because stages pass through different numbers of waits. Call
 * grid_close in any case, before the waiter is closed; grid_close accepts a zeroed grid. */
enum status grid_open(struct grid *g, struct waiter *w, MPI_Comm comm, struct error *e);
void grid_close(struct grid *g, struct waiter *w);
