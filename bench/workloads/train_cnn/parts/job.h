/* Ranks that train together, and this rank's position among them. */
#pragma once

#include "comm/grid.h"
#include "comm/wait/wait.h"

struct job {
    struct waiter *waiter; /* settings and state of this rank's MPI waits; borrowed */
    MPI_Comm comm;
    int rank, ranks;
    struct grid grid; /* this rank's replica, pipeline stage and tensor slice */
};
