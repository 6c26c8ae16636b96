/* Shared memory for strategies whose ranks are all on one node. The part of each rank:
 *
 *   flag, arena 0 [n], arena 1 [n], ...
 *
 * Each part begins at a page boundary, each arena at a cache line. */
#pragma once

#include "comm/strategy.h"

enum { NODE_WINDOW_ARENAS = 2 };

struct node_window {
    MPI_Win window;
    struct flag **flags; /* [ranks] flag in each rank's part of the window */
    /* arenas[k][rank]: arena k in that rank's part, s->arenas.n numbers */
    real **arenas[NODE_WINDOW_ARENAS];
    uint64_t arrivals; /* number of barriers at which this rank has arrived */
};

/* Allocates `arenas` zeroed arenas per rank, in memory near that rank. If `sparse`, only written
 * pages take memory, and mem_give_back_shared releases them. ERR_ARGUMENT if ranks are on several
 * nodes; ERR_UNAVAILABLE if shared memory is too small. Call node_window_close in any case.
 * Collective. */
enum status node_window_open(struct node_window *w, struct sync *s, int arenas, bool sparse,
                             struct error *e);
/* Frees the window. Collective if node_window_open succeeded. */
void node_window_close(struct node_window *w, const struct sync *s);

/* Reads all arenas of all ranks once, because the first access to a page is slow. */
void node_window_touch(const struct node_window *w, const struct sync *s);

/* A barrier in shared memory, split into two calls. node_barrier_arrive announces that this rank
 * has arrived, and does not wait. node_barrier_wait returns when all other ranks have arrived as
 * many times as this rank. Data that they wrote before their arrival can then be read. */
void node_barrier_arrive(struct node_window *w, const struct sync *s);
enum status node_barrier_wait(struct node_window *w, struct sync *s, const char *operation,
                              struct error *e);
/* Waits until every rank has arrived at the barrier at least `arrivals` times. This rank must
 * already have arrived that often. */
enum status node_barrier_wait_for(struct node_window *w, struct sync *s, uint64_t arrivals,
                                  const char *operation, struct error *e);
enum status node_barrier(struct node_window *w, struct sync *s, const char *operation,
                         struct error *e);
