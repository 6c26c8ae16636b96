/* Memory shared by all ranks, which must be on one node. Each rank's part:
 *
 *   flag, arena 0 [n], arena 1 [n], ...
 *
 * Parts begin on pages, arenas on cache lines. */
#pragma once

#include "comm/strategy.h"

enum { NODE_WINDOW_ARENAS = 2 };

struct node_window {
    MPI_Win window;
    struct flag **flags;               /* [ranks] */
    real **arenas[NODE_WINDOW_ARENAS]; /* [ranks] each: s->arenas.n numbers of every rank */
    uint64_t arrivals;                 /* number of barriers at which this rank has arrived */
};

/* Allocates `arenas` zeroed arenas per rank, in memory near that rank. sparse: only written
 * pages take memory, and mem_give_back_shared releases them. ERR_ARGUMENT for ranks on several
 * nodes, ERR_UNAVAILABLE if shared memory is too small. Call node_window_close after a failure
 * too. Collective. */
enum status node_window_open(struct node_window *w, struct sync *s, int arenas, bool sparse,
                             struct error *e);
/* Frees the window. Collective if opening succeeded. */
void node_window_close(struct node_window *w, const struct sync *s);

/* Reads all arenas of all ranks once, because the first access to a page is slow. */
void node_window_touch(const struct node_window *w, const struct sync *s);

/* A barrier among the node's ranks in shared memory, in two halves. node_barrier_arrive
 * announces this rank; node_barrier_wait returns when all others have arrived as often. Ranks
 * can then read each other's earlier writes. `operation` names the wait in messages. */
void node_barrier_arrive(struct node_window *w, const struct sync *s);
enum status node_barrier_wait(struct node_window *w, struct sync *s, const char *operation,
                              struct error *e);
/* Waits until all ranks have arrived `arrivals` times, a number at most this rank's own. */
enum status node_barrier_wait_for(struct node_window *w, struct sync *s, uint64_t arrivals,
                                  const char *operation, struct error *e);
enum status node_barrier(struct node_window *w, struct sync *s, const char *operation,
                         struct error *e);
