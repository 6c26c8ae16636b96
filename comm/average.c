#include "comm/average.h"

#include "comm/local_ops.h"
#include "kernels/base/clock.h"
#include "kernels/base/mem.h"

/* As in allreduce: the library's first calls on a communicator are others. */
#define WARM_CALLS 6

enum status average_open(struct average *a, struct sync *s, struct error *e)
{
    a->own = mem_alloc(s->arenas.n * sizeof *a->own);
    if (a->own == NULL)
        return error_set(e, ERR_MEMORY, "no memory to keep %zu weights", s->arenas.n);
    enum status status = OK;
    for (int i = 0; status == OK && i < WARM_CALLS; i++)
        status = average_params(s, e); /* of zeroes */
    return status;
}

void average_close(struct average *a)
{
    mem_free(a->own);
}

enum status average_params(struct sync *s, struct error *e)
{
    sync_comm_begin(s);
    enum status status = wait_allreduce(s->waiter, s->arenas.params, s->arenas.n, MPI_REAL_TYPE,
                                        MPI_SUM, s->comm, "average of the weights", e);
    sync_comm_end(s);
    int64_t begin_ns = clock_ns();
    local_scale(s->exec, s->arenas.params, s->arenas.n, (real)(1.0 / s->ranks));
    s->times.pack_ns += clock_ns() - begin_ns;
    return status;
}

enum status average_begin(struct average *a, struct sync *s, struct error *e)
{
    local_copy(s->exec, a->own, s->arenas.params, s->arenas.n * sizeof *a->own);
    return average_params(s, e);
}

void average_end(const struct average *a, struct sync *s)
{
    local_copy(s->exec, s->arenas.params, a->own, s->arenas.n * sizeof *a->own);
}
