#include "comm/nodes.h"

#include <stdlib.h>

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

/* From first ranks to a count of nodes: a node's own first rank comes before the others of it. */
static void count_nodes(int *node_of, int ranks)
{
    int nodes = 0;
    for (int r = 0; r < ranks; r++)
        node_of[r] = node_of[r] == r ? nodes++ : node_of[node_of[r]];
}

enum status nodes_find(struct sync *s, int **node_of, struct error *e)
{
    int here, *firsts = *node_of = calloc((size_t)s->ranks, sizeof *firsts);
    if (firsts == NULL)
        return error_set(e, ERR_MEMORY, "no memory for the nodes of %d ranks", s->ranks);
    nodes_here(s, &here, &firsts[s->rank]);
    enum status status = wait_allreduce(s->waiter, firsts, (size_t)s->ranks, MPI_INT, MPI_SUM,
                                        s->comm, "first ranks of all nodes", e);
    if (status == OK) {
        count_nodes(firsts, s->ranks);
        return OK;
    }
    free(firsts);
    *node_of = NULL;
    return status;
}
