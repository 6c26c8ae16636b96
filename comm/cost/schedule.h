/* Allreduce out of messages: who sends which numbers to whom, round by round, as plain functions of
 * the rank. A strategy carries the rounds out; its cost adds them up. */
#ifndef SCALEBENCH_COMM_COST_SCHEDULE_H
#define SCALEBENCH_COMM_COST_SCHEDULE_H

#include <stdbool.h>

#include "comm/cost/nodes.h"

/* Numbers [first, first + count) on their way to or from `rank`. What is received is added to this
 * rank's own or takes their place. */
struct transfer {
    int rank;
    size_t first, count;
    bool add;
};

/* What a rank sends and receives at the same time. What is received meets nothing that is sent,
 * except that receive i may bear on the numbers of send i. */
enum { ROUND_TRANSFERS = 3 };
struct round {
    struct transfer sends[ROUND_TRANSFERS], receives[ROUND_TRANSFERS];
    int n_sends, n_receives;
};

/* Sums `count` numbers of `width` bytes over all ranks by the algorithm of a strategy:
 *
 *   ring                blocks go around, summed on the first round trip (Patarasuk and Yuan,
 *                       "Bandwidth optimal all-reduce algorithms for clusters of workstations",
 *                       2009)
 *   recursive_doubling  the whole vector with a partner twice as far away each round
 *   rabenseifner        halves of what is left with such partners, and back (Thakur, Rabenseifner
 *                       and Gropp, 2005)
 *   tree                segments up a binary tree and down again, in a pipeline
 *   fixed_order         segments up the chain of ranks and down again: each sum is that of ranks 0,
 * 1, 2 ... in this order, so that its bits do not depend on how it was cut
 *
 * Where the second and third find no power of two of ranks, pairs fold into one first.
 *
 *   hierarchical        the ranks of a node sum a slice each; ranks of equal place on all nodes sum
 *                       theirs; slices go around the node (Horovod's hierarchical allreduce). Nodes
 *                       have as many slices as the smallest of them has ranks, so that every slice
 *                       finds its place on every node: the ranks of larger nodes beyond that give
 *                       their numbers and get the sums, and hold no slice. What crosses the network
 *                       is the same however many slices there are
 *   leader              up a binomial tree to the first rank of the node, a sum of the first ranks,
 *                       and down again: two-level, as MPICH's own sums over several nodes
 *
 * Both send messages within a node, too: they can be counted, are summed while the next is on its
 * way, and run where nodes are pretended or simulated and have no memory to share. */
struct schedule {
    enum strategy_kind strategy;
    int rank, ranks;
    size_t count;
    size_t segment; /* numbers in a message at most, > 0 */
    struct node_map map;
    struct node_view view; /* of schedules that know of nodes */
};

/* Segments of at most `segment_bytes`, of one number at least. */
struct schedule schedule_of(enum strategy_kind strategy, const struct strategy_config *config,
                            int rank, int ranks, size_t count, size_t width);

/* Whether it goes by the configuration's nodes. */
bool schedule_knows_nodes(enum strategy_kind strategy);

/* The same on every rank: those that have nothing to do in a round sit it out. */
int schedule_rounds(const struct schedule *s);
void schedule_round(const struct schedule *s, int i, struct round *round);

/* Messages that a transfer of so many numbers is cut into. */
size_t schedule_messages(const struct schedule *s, size_t count);

#endif
