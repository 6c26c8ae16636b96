#include "comm/nodes.h"

void nodes_here(const struct waiter *w, MPI_Comm comm, int *ranks, int *first)
{
    MPI_Group all, here;
    MPI_Comm_group(comm, &all);
    MPI_Group_intersection(all, w->node, &here);
    MPI_Group_size(here, ranks);
    MPI_Group_translate_ranks(here, 1, &(int){0}, all, first);
    MPI_Group_free(&here);
    MPI_Group_free(&all);
}

/* Replaces node_of[r], the first rank on r's node, by the number of that node. First ranks are
 * replaced before the other ranks of a node, which copy the number. */
static void count_nodes(int *node_of, int ranks)
{
    int nodes = 0;
    for (int r = 0; r < ranks; r++)
        node_of[r] = node_of[r] == r ? nodes++ : node_of[node_of[r]];
}

enum status nodes_find(struct waiter *w, MPI_Comm comm, int *node_of, struct error *e)
{
    int rank, ranks, here;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &ranks);
    nodes_here(w, comm, &here, &node_of[rank]);
    TRY(wait_allreduce(w, node_of, (size_t)ranks, MPI_INT, MPI_SUM, comm,
                       "first ranks of all nodes", e));
    count_nodes(node_of, ranks);
    return OK;
}
