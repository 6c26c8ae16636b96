/* doctor_ranks: what `scalebench doctor` starts on every core of a site. In rounds each core multiplies matrices and
 * reaches for memory, then the nodes send each other messages, pair by pair; who has no turn sleeps. Rank 0
 * writes what all have measured to nodes.csv, bursts.csv and messages.csv (bench/doctor/table.h). */
#pragma once

#include "bench/doctor/table.h"
#include "comm/wait/wait.h"

/* A rank, and what it knows of the others. */
struct doctor {
    struct waiter waiter;
    int rank, ranks, node, nodes;
    int *node_of;        /* [ranks] */
    int *firsts, *lasts; /* [nodes]: its first and its last rank */
    int *
        turns; /* [nodes]: nodes of one machine measure one after the other, those of others meanwhile */
    int n_turns;            /* 1: no two nodes share a machine */
    int machine_ranks;      /* on the machine of this one */
    char cpus[DOCTOR_TEXT]; /* processors that this rank is bound to */
    char ends[2][16]; /* the first and the last processor that ranks of this machine are bound to */
    int rounds;
    double warm_s, burst_s;      /* of matrix products: before they count, and while they do */
    double message_s;            /* that a long message should take */
    size_t message_bytes[2];     /* of it, between two ranks of a node and between nodes */
    char *buffer;                /* [largest of these] */
    struct doctor_burst *bursts; /* [rounds] */
    struct doctor_message *messages;
    size_t n_messages;
};

/* ---- meet.c ---- */

/* Finds out who is where, and how this rank waits. Freed with ranks_close in any case. */
enum status ranks_open(struct doctor *d, struct error *e);
void ranks_close(struct doctor *d);

/* Returns when all ranks are there; who waits sleeps, so that it takes nothing from whoever measures. */
enum status ranks_meet(struct doctor *d, const char *what, struct error *e);

static inline int is_first(const struct doctor *d)
{
    return d->firsts[d->node] == d->rank;
}

/* ---- compute.c ---- */

/* What cores are measured with; freed with work_free in any case. */
struct work;
enum status work_new(struct work **w, const struct doctor *d, struct error *e);
void work_free(struct work *w);

/* One burst: matrix products, a stream through memory, loads that wait for each other. */
void work_measure(struct work *w, const struct doctor *d, struct doctor_burst *burst);

/* ---- links.c ---- */

/* Finds how long messages have to be; a round is then measured by links_measure. Collective. */
enum status links_open(struct doctor *d, struct error *e);
enum status links_measure(struct doctor *d, int round, struct error *e);

/* ---- report.c ---- */

/* Collects all rows at rank 0, which writes them. Collective. */
enum status report_write(struct doctor *d, const char *folder, struct error *e);
