/* The ranks that train together. */
#pragma once

#include "comm/grid.h"
#include "comm/wait/wait.h"

struct job {
    struct waiter *waiter; /* borrowed */
    MPI_Comm comm;
    int rank, ranks;
    struct grid grid; /* of which replica of the net, stage and slice the rank is */
};
