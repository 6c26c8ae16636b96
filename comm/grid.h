/* The ranks as a grid data x pipeline. Those of one replica hold the stages of a net between them, those of
 * one stage the same part of it, of which a strategy sums the gradients. Neighbouring ranks are of one stage:
 * what they sum is more than what stages send each other. */
#pragma once

#include <mpi.h>

#include "comm/wait/wait.h"

struct grid {
    int stage, stages;     /* of the pipeline */
    int replica, replicas; /* of the net, each with a share of every batch */
    MPI_Comm data;     /* ranks of this stage, by replica; without a pipeline the caller's own */
    MPI_Comm pipeline; /* ranks of this replica, by stage; MPI_COMM_NULL without a pipeline */
};

/* Where a rank of `ranks`, a multiple of `stages`, stands; no MPI, the communicators are made by the next. */
struct grid grid_place(int rank, int ranks, int stages);

/* Of comm's ranks. Collective. Without a pipeline nothing is made. Ranks of a pipeline pass through different
 * numbers of waits, which the waiter learns here. Closed with grid_close in any case, while the waiter is
 * there; a grid that is all zero, too. */
enum status grid_open(struct grid *g, struct waiter *w, MPI_Comm comm, struct error *e);
void grid_close(struct grid *g, struct waiter *w);
