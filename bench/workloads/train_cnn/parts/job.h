/* Ranks that train together, and this rank's position among them. */
#pragma once

#include "comm/grid.h"
#include "comm/wait/wait.h"

struct job {
    struct waiter *waiter; /* borrowed from the caller */
    MPI_Comm comm;
    int rank, ranks;
    struct grid grid; /* this rank's replica, pipeline stage and tensor slice */
};
