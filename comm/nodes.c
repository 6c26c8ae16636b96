#include "comm/nodes.h"

#include <stdlib.h>

/* The first rank of this rank's node. */
static enum status find_first(struct sync *s, int *first, struct error *e)
{
    MPI_Comm node;
    wait_library_begin(s->waiter, "finding the ranks of this node");
    int code = MPI_Comm_split_type(s->comm, MPI_COMM_TYPE_SHARED, s->rank, MPI_INFO_NULL, &node);
    wait_library_end(s->waiter);
    if (code != MPI_SUCCESS)
        return error_set(e, ERR_MPI, "finding the ranks of this node: MPI error %d", code);
    *first = s->rank;
    enum status status =
        wait_bcast(s->waiter, first, 1, MPI_INT, 0, node, "first rank of a node", e);
    MPI_Comm_free(&node); /* without a word to others */
    return status;
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
    int first;
    int *firsts = *node_of = calloc((size_t)s->ranks, sizeof *firsts);
    if (firsts == NULL)
        return error_set(e, ERR_MEMORY, "no memory for the nodes of %d ranks", s->ranks);
    enum status status = find_first(s, &first, e);
    if (status == OK) {
        firsts[s->rank] = first;
        status = wait_allreduce(s->waiter, firsts, (size_t)s->ranks, MPI_INT, MPI_SUM, s->comm,
                                "first ranks of all nodes", e);
    }
    if (status == OK) {
        count_nodes(firsts, s->ranks);
        return OK;
    }
    free(firsts);
    *node_of = NULL;
    return status;
}
