#include "bench/workloads/train_cnn/group.h"

enum status group_open(struct group *g, struct sync *sync, struct overlap *overlap, MPI_Comm comm,
                       struct error *e)
{
    *g = (struct group){.sync = sync, .overlap = overlap};
    TRY(wait_comm_dup(sync->waiter, comm, &g->comm, "communicator of batch statistics", e));
    g->open = true;
    return OK;
}

void group_close(struct group *g)
{
    if (g->open)
        MPI_Comm_free(&g->comm);
    g->open = false;
}

void group_step_begin(struct group *g)
{
    g->bytes_sent = 0;
    g->sum_ns = 0;
}

enum status group_sum(void *arg, double *values, size_t n)
{
    struct group *g = arg;
    const struct extra_sum sum = {values,  n,       MPI_DOUBLE,
                                  MPI_SUM, g->comm, "sum of batch statistics"};
    overlap_pause(g->overlap);
    const uint64_t sent = g->sync->extra.bytes_wire;
    const int64_t exposed_ns = g->sync->times.comm_exposed_ns;
    if (g->error.status == OK)
        sync_extra_sum(g->sync, &sum, sync_comm_end_amid, &g->error);
    g->bytes_sent += g->sync->extra.bytes_wire - sent;
    g->sum_ns += g->sync->times.comm_exposed_ns - exposed_ns;
    overlap_resume(g->overlap);
    return g->error.status;
}

enum status group_check(const struct group *g, struct error *e)
{
    if (g->error.status != OK)
        *e = g->error;
    return g->error.status;
}
