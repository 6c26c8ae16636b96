/* Sums batch statistics over the ranks that share a batch, for synchronised batch norm. Uses a
 * separate communicator, since gradient sums may be in progress. Calls, bytes and waiting time
 * count as part of the step. */
#pragma once

#include <stdbool.h>

#include "comm/overlap.h"

struct group {
    bool open;
    struct sync *sync; /* borrowed; runs the group's sums and counts their time and bytes */
    /* tests the strategy's messages while the rank computes; group_sum pauses these tests.
     * Borrowed. NULL: no overlap */
    struct overlap *overlap;
    MPI_Comm comm;
    uint64_t bytes_sent; /* bytes sent by this step's sums, computed by formula */
    int64_t sum_ns;      /* time of this step's sums of batch statistics, including waiting (ns) */
    size_t *counts;      /* [most] number of values in each sum of this step; the first n_sums are
                            set */
    size_t n_sums, most;
    double *zeroes;     /* zeros that group_replay sums; NULL before the first replay */
    struct error error; /* error of the first sum that failed */
};

/* Opens a group for at most `most` sums per step. Collective over comm. Call group_close in any
 * case. */
enum status group_open(struct group *g, struct sync *sync, struct overlap *overlap, MPI_Comm comm,
                       size_t most, struct error *e);
/* Closes the group; does nothing if it is not open. Collective. */
void group_close(struct group *g);

void group_step_begin(struct group *g);

/* Sums values [n] over the ranks of the group. The result is bitwise equal on all ranks.
 * exec.group_sum points to this function; `arg` is the group. */
enum status group_sum(void *arg, double *values, size_t n);

/* Repeats the calls that the sums of the latest step made, with zeros as input, for replay.
 * Collective. */
enum status group_replay(struct group *g, struct error *e);

/* Returns the first error of a sum since group_open, or OK. Layers that call group_sum cannot
 * report errors themselves. */
enum status group_check(const struct group *g, struct error *e);
