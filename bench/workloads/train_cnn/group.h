/* Sums over the ranks that share a batch, for synchronised batch norm: a communicator and counters
 * of its own, so that neither its messages nor its cost mix with those of the gradients. */
#pragma once

#include <stdbool.h>

#include "comm/overlap.h"

struct group {
    bool open;
    struct overlap *overlap; /* borrowed, or NULL: may have the library while a rank computes */
    MPI_Comm comm;
    struct waiter waiter; /* calls and bytes of the sums alone */
    int64_t sum_ns;       /* spent in them, waiting included */
    struct error error;   /* of the first sum that failed */
};

/* Waits as `like` does. Collective over comm. On error nothing is left. */
enum status group_open(struct group *g, struct waiter *like, MPI_Comm comm, struct error *e);
/* Collective; also of a group that is not open. */
void group_close(struct group *g);

/* exec.group_sum; `arg` is the group. Values come back bitwise equal on all ranks. */
enum status group_sum(void *arg, double *values, size_t n);

/* The error of a sum since group_open, or OK: layers have no way to report one. */
enum status group_check(const struct group *g, struct error *e);
