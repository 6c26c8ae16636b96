/* Memory that all ranks share, which must be on one node. Each rank's part:
 *
 *   flag, arena 0 [n], arena 1 [n], ...
 *
 * Parts begin on pages; within one, arenas begin on cache lines. */
#pragma once

#include "comm/strategy.h"

enum { NODE_WINDOW_ARENAS = 2 };

struct node_window {
    MPI_Win window;
    struct flag **flags;               /* [ranks] */
    real **arenas[NODE_WINDOW_ARENAS]; /* [ranks] each: s->arenas.n numbers of every rank */
    uint64_t arrivals;                 /* of this rank at barriers */
};

/* Allocates so many arenas a rank, of zeroes, near the rank that they belong to. `sparse`: memory takes pages for what is
 * written alone, and mem_give_back_shared gives them back. Collective.
 * ERR_ARGUMENT for ranks on several nodes, ERR_UNAVAILABLE where shared memory has no room. To be
 * closed after a failure too. */
enum status node_window_open(struct node_window *w, struct sync *s, int arenas, bool sparse,
                             struct error *e);
/* Collective where opening it did not fail. */
void node_window_close(struct node_window *w, const struct sync *s);

/* Reads all arenas of all ranks once, as a step will: the first access to a page is slow. */
void node_window_touch(const struct node_window *w, const struct sync *s);

/* A barrier among the ranks of the node, in shared memory. Its two halves: this rank has arrived;
 * all others have arrived as often as this rank. What ranks wrote before they arrived can be read
 * after the wait. `operation` names what is waited for. */
void node_barrier_arrive(struct node_window *w, const struct sync *s);
enum status node_barrier_wait(struct node_window *w, struct sync *s, const char *operation,
                              struct error *e);
/* The same of a count of arrivals in between, which other ranks reach in the same order. */
enum status node_barrier_wait_for(struct node_window *w, struct sync *s, uint64_t arrivals,
                                  const char *operation, struct error *e);
enum status node_barrier(struct node_window *w, struct sync *s, const char *operation,
                         struct error *e);
