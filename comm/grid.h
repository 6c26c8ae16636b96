/* The ranks as a grid data x pipeline x tensor. Those of one replica hold a net between them: stages one behind the
 * other, and of the layers of a stage several slices side by side. Ranks of the same stage and slice, one of each
 * replica, hold the same weights, of which a strategy sums the gradients. Neighbouring ranks are slices of one
 * stage, which wait for each other in every layer that they share out; then come replicas, since what they sum is
 * more than what stages send each other. */
#pragma once

#include <mpi.h>

#include "comm/wait/wait.h"

struct grid {
    int stage, stages;     /* of the pipeline */
    int replica, replicas; /* of the net, each with a share of every batch */
    int slice, slices;     /* of the layers that are shared out */
    MPI_Comm data;     /* ranks of this stage and slice, by replica; of one of both, comm itself */
    MPI_Comm pipeline; /* ranks of this replica and slice, by stage; MPI_COMM_NULL: one stage */
    MPI_Comm tensor;   /* ranks of this replica and stage, by slice; MPI_COMM_NULL: one slice */
};

/* Where a rank of `ranks`, a multiple of stages times slices, stands; no MPI, the communicators are made by the
 * next. */
struct grid grid_place(int rank, int ranks, int stages, int slices);

/* Of comm's ranks. Collective. Where each rank is a replica nothing is made. Otherwise ranks pass through different
 * numbers of waits, of other stages or while they evaluate, which the waiter learns here. Closed with grid_close in
 * any case, while the waiter is there; a grid that is all zero, too. */
enum status grid_open(struct grid *g, struct waiter *w, MPI_Comm comm, struct error *e);
void grid_close(struct grid *g, struct waiter *w);
