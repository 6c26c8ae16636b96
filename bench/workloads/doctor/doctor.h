/* doctor_ranks: measures a site for `scalebench doctor`, with one rank per core. In each round,
 * every core multiplies matrices and accesses memory. Pairs of ranks then exchange messages, within
 * and between nodes, while all others sleep. Rank 0 writes nodes.csv, bursts.csv and messages.csv
 * (bench/doctor/table.h). */
#pragma once

#include "bench/doctor/table.h"
#include "comm/wait/wait.h"

/* State of this rank, with the placement of all ranks. */
struct doctor {
    struct waiter waiter;
    int rank, ranks, node, nodes;
    int *node_of;        /* [ranks] node of each rank */
    int *firsts, *lasts; /* [nodes] first and last rank of each node */
    /* [nodes] index of each node, from 0, among the nodes on its machine. Nodes that share a
     * machine measure in turn. */
    int *turns;
    int n_turns;            /* largest number of nodes on one machine, and so the number of turns:
                               in a turn, at most one node of each machine measures */
    int machine_ranks;      /* number of ranks on this rank's machine */
    char cpus[DOCTOR_TEXT]; /* processors that this rank is bound to */
    char ends[2][16];       /* lowest and highest processor that ranks on this machine use */
    int rounds;
    double warm_s, burst_s;  /* duration of matrix products (s): warm-up, measurement */
    double message_s;        /* planned time to send one long message (s) */
    size_t message_bytes[2]; /* bytes of a long message within a node [0] and between nodes [1] */
    char *buffer;            /* data of the message being sent or received; at least
                                max(message_bytes) bytes */
    struct doctor_burst *bursts; /* [rounds] measurements of this rank's core */
    struct doctor_message *messages;
    size_t n_messages;
};

/* ---- ranks.c ---- */

/* Finds the node and the machine of each rank, and opens d->waiter. Call ranks_close in any
 * case. */
enum status ranks_open(struct doctor *d, struct error *e);
void ranks_close(struct doctor *d);

/* Synchronises all ranks. Waiting ranks sleep, so that they do not disturb measurements. */
enum status ranks_synchronise(struct doctor *d, const char *what, struct error *e);

static inline int is_first(const struct doctor *d)
{
    return d->firsts[d->node] == d->rank;
}

/* ---- compute.c ---- */

/* Buffers for measuring a core. Call work_free in any case. */
struct work;
enum status work_new(struct work **w, const struct doctor *d, struct error *e);
void work_free(struct work *w);

/* Measures one burst: matrix products, a memory stream, and dependent loads. */
void work_measure(struct work *w, const struct doctor *d, struct doctor_burst *burst);

/* ---- links.c ---- */

/* links_open chooses the message sizes. links_measure measures all links once, for round `round`.
 * Both are collective. */
enum status links_open(struct doctor *d, struct error *e);
enum status links_measure(struct doctor *d, int round, struct error *e);

/* ---- report.c ---- */

/* Gathers the rows of all tables on rank 0, which writes the files. Collective. */
enum status report_write(struct doctor *d, const char *folder, struct error *e);
