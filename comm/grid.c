#include "comm/grid.h"

#include "comm/wait/mpi_error.h"

/* MPI 3 has no split that can be tested. */
static enum status split(struct waiter *w, MPI_Comm comm, int colour, int key, MPI_Comm *part,
                         const char *what, struct error *e)
{
    blocking_call_begin(w, what);
    int code = MPI_Comm_split(comm, colour, key, part);
    blocking_call_end(w);
    return mpi_status(code, what, e);
}

struct grid grid_place(int rank, int ranks, int stages)
{
    int replicas = ranks / stages;
    return (struct grid){.stage = rank / replicas,
                         .stages = stages,
                         .replica = rank % replicas,
                         .replicas = replicas,
                         .data = MPI_COMM_NULL,
                         .pipeline = MPI_COMM_NULL};
}

enum status grid_open(struct grid *g, struct waiter *w, MPI_Comm comm, struct error *e)
{
    if (g->stages == 1) {
        g->data = comm;
        return OK;
    }
    w->free_running = true;
    TRY(split(w, comm, g->stage, g->replica, &g->data, "communicator of a stage", e));
    return split(w, comm, g->replica, g->stage, &g->pipeline, "communicator of a pipeline", e);
}

void grid_close(struct grid *g, struct waiter *w)
{
    if (g->stages <= 1)
        return;
    w->free_running = false;
    if (g->data != MPI_COMM_NULL)
        MPI_Comm_free(&g->data);
    if (g->pipeline != MPI_COMM_NULL)
        MPI_Comm_free(&g->pipeline);
}
