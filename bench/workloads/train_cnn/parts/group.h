/* Sums over the ranks that share a batch, for synchronised batch norm. They use their own
 * communicator, since gradient sums may be in progress. Their calls, bytes and waiting are counted
 * in the step. */
#pragma once

#include <stdbool.h>

#include "comm/overlap.h"

struct group {
    bool open;
    struct sync *sync;       /* borrowed: waiter, times and counters */
    struct overlap *overlap; /* borrowed or NULL: may use the MPI library while a rank computes */
    MPI_Comm comm;
    uint64_t bytes_sent; /* bytes sent in this step, by formula */
    int64_t sum_ns;      /* time in this step's sums, waiting included */
    size_t *counts;      /* [most] size of each of the n_sums sums of the last step */
    size_t n_sums, most;
    double *zeroes;     /* zeros for group_replay; NULL before */
    struct error error; /* error of the first sum that failed */
};

/* Opens a group for at most `most` sums per step. Collective over comm. Call group_close in any
 * case. */
enum status group_open(struct group *g, struct sync *sync, struct overlap *overlap, MPI_Comm comm,
                       size_t most, struct error *e);
/* Collective; also for a group that is not open. */
void group_close(struct group *g);

void group_step_begin(struct group *g);

/* Sums values [n] over the group, bitwise equal on all ranks. For exec.group_sum; `arg` is the
 * group. */
enum status group_sum(void *arg, double *values, size_t n);

/* Repeats the sums of the last step with zeros. Collective. */
enum status group_replay(struct group *g, struct error *e);

/* Returns the first error of a sum since group_open, or OK: layers cannot report errors. */
enum status group_check(const struct group *g, struct error *e);
