#include "comm/strategies/node_window.h"

#include <stdio.h>
#include <string.h>

#include "comm/local_ops.h"
#include "comm/nodes.h"
#include "comm/wait/mpi_error.h"
#include "kernels/base/mem.h"

static size_t arena_bytes(const struct sync *s)
{
    return (s->arenas.n * sizeof(real) + MEM_ALIGNMENT - 1) / MEM_ALIGNMENT * MEM_ALIGNMENT;
}

static size_t part_bytes(const struct sync *s, int arenas)
{
    return sizeof(struct flag) + (size_t)arenas * arena_bytes(s);
}

static enum status check_space(const struct sync *s, int arenas, struct error *e)
{
    char who[64];
    snprintf(who, sizeof who, "strategy %s", strategy_names()[s->kind]);
    return mem_check_shared(who, (double)part_bytes(s, arenas) * s->ranks, e);
}

/* Lets rank 0 decide whether shared memory has enough space. Later checks by other ranks would
 * count memory that is already allocated. Only rank 0 has an error message. */
static enum status agree_on_space(const struct sync *s, int arenas, struct error *e)
{
    int found = check_space(s, arenas, e);
    TRY(wait_bcast(s->waiter, &found, 1, MPI_INT, 0, s->comm, "agreement on shared memory", e));
    if (found != OK && s->rank > 0)
        return error_set(e, (enum status)found, "%s", "");
    return (enum status)found;
}

static enum status check_node(const struct sync *s, struct error *e)
{
    int here, first;
    nodes_here(s->waiter, s->comm, &here, &first);
    if (here == s->ranks)
        return OK;
    return error_set(e, ERR_ARGUMENT,
                     "strategy %s needs all ranks on one node, found %d of %d on this node",
                     strategy_names()[s->kind], here, s->ranks);
}

static enum status allocate(struct node_window *w, const struct sync *s, int arenas, bool sparse,
                            struct error *e)
{
    MPI_Aint bytes = (MPI_Aint)part_bytes(s, arenas);
    MPI_Info apart;
    void *mine;
    MPI_Info_create(&apart);
    MPI_Info_set(apart, "alloc_shared_noncontig", "true");
    blocking_call_begin(s->waiter, "sharing memory among a node's ranks");
    int code = MPI_Win_allocate_shared(bytes, 1, apart, s->comm, &mine, &w->window);
    blocking_call_end(s->waiter);
    MPI_Info_free(&apart);
    TRY(mpi_status(code, "sharing memory among a node's ranks", e));
    for (int r = 0; r < s->ranks; r++) {
        MPI_Aint size;
        int unit;
        void *part;
        MPI_Win_shared_query(w->window, r, &size, &unit, &part);
        w->flags[r] = part;
        char *first = (char *)part + sizeof(struct flag);
        for (int i = 0; i < arenas; i++)
            w->arenas[i][r] = (real *)(first + (size_t)i * arena_bytes(s));
    }
    if (sparse)
        mem_give_back_shared(w->flags[s->rank], (size_t)bytes);
    else
        memset(w->flags[s->rank], 0,
               (size_t)bytes); /* the first write to a page places it near the writing rank */
    return OK;
}

enum status node_window_open(struct node_window *w, struct sync *s, int arenas, bool sparse,
                             struct error *e)
{
    *w = (struct node_window){.window = MPI_WIN_NULL};
    TRY(agree_on_space(s, arenas, e));
    TRY(MEM_KEEP(&s->memory, w->flags, (size_t)s->ranks, "flags of a node's ranks", e));
    for (int i = 0; i < arenas; i++)
        TRY(MEM_KEEP(&s->memory, w->arenas[i], (size_t)s->ranks, "arenas of a node's ranks", e));
    TRY(check_node(s, e));
    TRY(allocate(w, s, arenas, sparse, e));
    return wait_barrier(s->waiter, s->comm, "opening shared memory", e);
}

void node_window_close(struct node_window *w, const struct sync *s)
{
    if (w->window == MPI_WIN_NULL)
        return;
    blocking_call_begin(s->waiter, "closing shared memory");
    MPI_Win_free(&w->window);
    blocking_call_end(s->waiter);
}

void node_window_touch(const struct node_window *w, const struct sync *s)
{
    for (int i = 0; i < NODE_WINDOW_ARENAS; i++)
        for (int r = 0; r < s->ranks && w->arenas[i] != NULL; r++)
            local_norm2(s->exec, w->arenas[i][r], s->arenas.n);
}

void node_barrier_arrive(struct node_window *w, const struct sync *s)
{
    flag_raise(w->flags[s->rank], ++w->arrivals);
}

enum status node_barrier_wait_for(struct node_window *w, struct sync *s, uint64_t arrivals,
                                  const char *operation, struct error *e)
{
    return wait_flags(s->waiter, w->flags, s->ranks, arrivals, s->comm, operation, e);
}

enum status node_barrier_wait(struct node_window *w, struct sync *s, const char *operation,
                              struct error *e)
{
    return node_barrier_wait_for(w, s, w->arrivals, operation, e);
}

enum status node_barrier(struct node_window *w, struct sync *s, const char *operation,
                         struct error *e)
{
    node_barrier_arrive(w, s);
    return node_barrier_wait(w, s, operation, e);
}
