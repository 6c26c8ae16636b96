#include "comm/nodes.h"

#include <stdlib.h>

#include "kernels/base/mem.h"

void nodes_here(const struct sync *s, int *ranks, int *first)
{
    MPI_Group all, here;
    MPI_Comm_group(s->comm, &all);
    MPI_Group_intersection(all, s->waiter->node, &here);
    MPI_Group_size(here, ranks);
    MPI_Group_translate_ranks(here, 1, &(int){0}, all, first);
    MPI_Group_free(&here);
    MPI_Group_free(&all);
}

/* From the first rank of each rank's node to the number of that node: first ranks come before the
 * other ranks of their node. */
static void count_nodes(int *node_of, int ranks)
{
    int nodes = 0;
    for (int r = 0; r < ranks; r++)
        node_of[r] = node_of[r] == r ? nodes++ : node_of[node_of[r]];
}

static enum status find(struct sync *s, int *firsts, struct error *e)
{
    int here;
    nodes_here(s, &here, &firsts[s->rank]);
    TRY(wait_allreduce(s->waiter, firsts, (size_t)s->ranks, MPI_INT, MPI_SUM, s->comm,
                       "first ranks of all nodes", e));
    count_nodes(firsts, s->ranks);
    return OK;
}

enum status nodes_find(struct sync *s, int **node_of, struct error *e)
{
    TRY(MEM_NEW(*node_of, (size_t)s->ranks, "the nodes of all ranks", e));
    enum status status = find(s, *node_of, e);
    if (status != OK) {
        free(*node_of);
        *node_of = NULL;
    }
    return status;
}
