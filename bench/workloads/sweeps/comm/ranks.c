/* Counts the nodes of a sweep and the ranks on this node, finds the node of each rank, and chooses
 * how ranks wait for messages. */
#include <sched.h>

#include "bench/workloads/sweeps/comm/sweep.h"
#include "comm/library.h"
#include "comm/nodes.h"
#include "kernels/base/mem.h"

/* Returns whether this node has more ranks than processors on which the ranks may run. */
static bool is_crowded(MPI_Comm node, int ranks)
{
    cpu_set_t own, all;
    CPU_ZERO(&own);
    sched_getaffinity(0, sizeof own, &own);
    MPI_Allreduce(&own, &all, sizeof own, MPI_BYTE, MPI_BOR, node);
    return ranks > CPU_COUNT(&all);
}

/* Counts the ranks on this node, and the nodes. Returns whether any node has more ranks than
 * processors. */
static bool count_ranks(struct sweep *s)
{
    int local_rank, nodes[2];
    MPI_Comm node;
    MPI_Comm_rank(MPI_COMM_WORLD, &s->rank);
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, s->rank, MPI_INFO_NULL, &node);
    MPI_Comm_rank(node, &local_rank);
    MPI_Comm_size(node, &s->local_ranks);
    const int mine[2] = {local_rank == 0, is_crowded(node, s->local_ranks)};
    MPI_Comm_free(&node);
    MPI_Allreduce(mine, nodes, 2, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    s->nodes = nodes[0];
    return nodes[1] > 0;
}

enum status ranks_open(struct sweep *s, struct error *e)
{
    const struct sweep_options *o = s->options;
    bool crowded = count_ranks(s);
    library_name(s->mpi, sizeof s->mpi);
    s->can_choose = algorithm_read(&s->library, e) == OK;
    int given = (int)sweep_number(&o->config, SWEEP_WAIT); /* 0: auto; otherwise 1 + wait_kind */
    enum wait_kind wait = given > 0 ? (enum wait_kind)(given - 1)
                          : crowded ? WAIT_YIELD
                                    : WAIT_BLOCK;
    TRY(waiter_open(&s->waiter, wait, config_number(&o->config, OPT_DEADLINE), MPI_COMM_WORLD, e));
    TRY(MEM_NEW(s->node_of, (size_t)s->ranks, "the nodes of all ranks", e));
    return nodes_find(&s->waiter, MPI_COMM_WORLD, s->node_of, e);
}
