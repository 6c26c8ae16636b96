#include "comm/grid.h"

#include "comm/wait/mpi_error.h"

/* Splits a communicator. The call blocks, because MPI 3 has no non-blocking MPI_Comm_split. */
static enum status split(struct waiter *w, MPI_Comm comm, int colour, int key, MPI_Comm *part,
                         const char *what, struct error *e)
{
    blocking_call_begin(w, what);
    int code = MPI_Comm_split(comm, colour, key, part);
    blocking_call_end(w);
    return mpi_status(code, what, e);
}

struct grid grid_place(int rank, int ranks, int stages, int slices)
{
    int replicas = ranks / (stages * slices);
    return (struct grid){.stage = rank / (replicas * slices),
                         .stages = stages,
                         .replica = rank / slices % replicas,
                         .replicas = replicas,
                         .slice = rank % slices,
                         .slices = slices,
                         .data = MPI_COMM_NULL,
                         .pipeline = MPI_COMM_NULL,
                         .tensor = MPI_COMM_NULL};
}

static bool is_of_replicas(const struct grid *g)
{
    return g->stages <= 1 && g->slices <= 1;
}

enum status grid_open(struct grid *g, struct waiter *w, MPI_Comm comm, struct error *e)
{
    if (is_of_replicas(g)) {
        g->data = comm;
        return OK;
    }
    w->free_running = true;
    TRY(split(w, comm, g->stage * g->slices + g->slice, g->replica, &g->data,
              "communicator of replicas", e));
    if (g->stages > 1)
        TRY(split(w, comm, g->replica * g->slices + g->slice, g->stage, &g->pipeline,
                  "communicator of a pipeline", e));
    if (g->slices == 1)
        return OK;
    return split(w, comm, g->stage * g->replicas + g->replica, g->slice, &g->tensor,
                 "communicator of slices", e);
}

void grid_close(struct grid *g, struct waiter *w)
{
    MPI_Comm *const made[] = {&g->data, &g->pipeline, &g->tensor};
    if (is_of_replicas(g))
        return;
    w->free_running = false;
    for (size_t i = 0; i < sizeof made / sizeof *made; i++)
        if (*made[i] != MPI_COMM_NULL)
            MPI_Comm_free(made[i]);
}
