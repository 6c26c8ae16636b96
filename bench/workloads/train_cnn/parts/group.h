/* Sums over the ranks that share a batch, for synchronised batch norm: a communicator of its own, since sums of
 * gradients may be on their way. They are calls, bytes and waiting of the step like all others. */
#pragma once

#include <stdbool.h>

#include "comm/overlap.h"

struct group {
    bool open;
    struct sync *sync;       /* borrowed: its waiter, its times and its record of what was sent */
    struct overlap *overlap; /* borrowed, or NULL: may have the library while a rank computes */
    MPI_Comm comm;
    uint64_t bytes_sent; /* in this step, by formula */
    int64_t sum_ns;      /* spent in the sums of this step, waiting included */
    size_t *counts; /* [n_sums] numbers in each sum of the last step; there is room for `most` */
    size_t n_sums, most;
    double *zeroes;     /* what group_replay sums; NULL until then */
    struct error error; /* of the first sum that failed */
};

/* For at most `most` sums in a step. Collective over comm. Closed with group_close in any case. */
enum status group_open(struct group *g, struct sync *sync, struct overlap *overlap, MPI_Comm comm,
                       size_t most, struct error *e);
/* Collective; also of a group that is not open. */
void group_close(struct group *g);

void group_step_begin(struct group *g);

/* exec.group_sum; `arg` is the group. Values come back bitwise equal on all ranks. */
enum status group_sum(void *arg, double *values, size_t n);

/* Makes the sums of the last step again, of zeroes. Collective. */
enum status group_replay(struct group *g, struct error *e);

/* The error of a sum since group_open, or OK: layers have no way to report one. */
enum status group_check(const struct group *g, struct error *e);
