#include "bench/workloads/train_cnn/parts/group.h"

#include <stdlib.h>

#include "kernels/base/mem.h"

enum status group_open(struct group *g, struct sync *sync, struct overlap *overlap, MPI_Comm comm,
                       size_t most, struct error *e)
{
    *g = (struct group){.sync = sync, .overlap = overlap, .most = most};
    TRY(MEM_NEW(g->counts, most, "the sums of batch norm", e));
    TRY(wait_comm_dup(sync->waiter, comm, &g->comm, "communicator of batch statistics", e));
    g->open = true;
    return OK;
}

void group_close(struct group *g)
{
    if (g->open)
        MPI_Comm_free(&g->comm);
    free(g->counts);
    free(g->zeroes);
    g->counts = NULL;
    g->zeroes = NULL;
    g->open = false;
}

void group_step_begin(struct group *g)
{
    g->n_sums = 0;
    g->bytes_sent = 0;
    g->sum_ns = 0;
}

/* Sums values [n] over the group. Call it only while no other thread uses the MPI library. */
static void sum_now(struct group *g, double *values, size_t n)
{
    const struct extra_sum sum = {values,  n,       MPI_DOUBLE,
                                  MPI_SUM, g->comm, "sum of batch statistics"};
    const uint64_t sent = g->sync->extra.bytes_wire;
    const int64_t exposed_ns = g->sync->times.comm_exposed_ns;
    if (g->error.status == OK)
        sync_extra_sum(g->sync, &sum, sync_comm_end_amid, &g->error);
    g->bytes_sent += g->sync->extra.bytes_wire - sent;
    g->sum_ns += g->sync->times.comm_exposed_ns - exposed_ns;
}

enum status group_sum(void *arg, double *values, size_t n)
{
    struct group *g = arg;
    if (g->n_sums < g->most)
        g->counts[g->n_sums++] = n;
    overlap_pause(g->overlap);
    sum_now(g, values, n);
    overlap_resume(g->overlap);
    return g->error.status;
}

static enum status make_zeroes(struct group *g, struct error *e)
{
    size_t largest = 0;
    for (size_t i = 0; i < g->n_sums; i++)
        largest = g->counts[i] > largest ? g->counts[i] : largest;
    return g->zeroes == NULL ? MEM_NEW(g->zeroes, largest, "the sums of batch norm", e) : OK;
}

enum status group_replay(struct group *g, struct error *e)
{
    TRY(make_zeroes(g, e));
    for (size_t i = 0; i < g->n_sums; i++)
        sum_now(g, g->zeroes, g->counts[i]);
    return group_check(g, e);
}

enum status group_check(const struct group *g, struct error *e)
{
    if (g->error.status != OK)
        *e = g->error;
    return g->error.status;
}
