#include "bench/workloads/train_cnn/group.h"

#include "kernels/base/clock.h"

enum status group_open(struct group *g, struct waiter *like, MPI_Comm comm, struct error *e)
{
    *g = (struct group){.open = false};
    TRY(wait_comm_dup(like, comm, &g->comm, "communicator of batch statistics", e));
    g->open = true;
    enum status status = waiter_open(&g->waiter, like->kind, like->deadline_s, g->comm, e);
    if (status == OK && like->check != NULL)
        status = waiter_check_calls(&g->waiter, g->comm, e);
    if (status != OK) {
        waiter_close(&g->waiter);
        MPI_Comm_free(&g->comm);
        g->open = false;
    }
    return status;
}

void group_close(struct group *g)
{
    if (!g->open)
        return;
    waiter_close(&g->waiter);
    MPI_Comm_free(&g->comm);
    g->open = false;
}

enum status group_sum(void *arg, double *values, size_t n)
{
    struct group *g = arg;
    int64_t begin_ns = clock_ns();
    overlap_pause(g->overlap);
    if (g->error.status == OK)
        wait_allreduce(&g->waiter, values, n, MPI_DOUBLE, MPI_SUM, g->comm,
                       "sum of batch statistics", &g->error);
    overlap_resume(g->overlap);
    g->sum_ns += clock_ns() - begin_ns;
    return g->error.status;
}

enum status group_check(const struct group *g, struct error *e)
{
    if (g->error.status != OK)
        *e = g->error;
    return g->error.status;
}
