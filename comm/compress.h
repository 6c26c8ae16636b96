/* Compressors replace the sum of a strategy flagged STRATEGY_COMPRESSES. Such a strategy calls
 * sync_sum for ranges of tensors. The compressor writes its approximation of the sum over ranks
 * there, with the same bits on every rank. Each compressor is one .c file that exports one const
 * table, and one line in comm/cost/compressors.def.
 *
 * Error feedback: a rank adds the error of earlier steps to its gradients, and keeps the error
 * of this step (Seide et al., 2014; Karimireddy et al., "Error feedback fixes SignSGD and other
 * gradient compression schemes", 2019). */
#pragma once

#include "comm/strategy.h"

struct compressor {
    size_t context_bytes; /* size of sync->compression, which is zeroed before create */
    /* Allocates in s->memory all that later sums need. Called before the strategy's own create:
     * the tensors of the arenas are known, their memory does not exist yet. */
    enum status (*create)(struct sync *s, struct error *e);
    /* Replaces the gradients of the tensors by the sum over ranks. Collective. */
    enum status (*sum)(struct sync *s, struct range tensors, struct error *e);
    /* Starts a sum that runs while the rank computes. Compressors flagged COMPRESSOR_OVERLAPS
     * have start, advance, poll and finish; in other compressors they are NULL. Every rank
     * starts the same sums in the same order. `start` and `advance` do not wait. `advance`
     * processes arrived messages and starts the next phase. `poll` is as in struct strategy.
     * `finish` waits for all started sums. */
    enum status (*start)(struct sync *s, struct range tensors, struct error *e);
    enum status (*advance)(struct sync *s, struct error *e);
    bool (*poll)(struct sync *s);
    enum status (*finish)(struct sync *s, struct error *e);
    /* Returns memory [*bytes] that lasts from step to step, for checkpoints. NULL hook: the
     * compressor has no such memory. */
    void *(*memory)(struct sync *s, size_t *bytes);
    /* Resets the compressor's memory to its state before the first step. NULL hook: the
     * compressor has no memory. */
    void (*begin)(struct sync *s);
    /* Releases everything except memory, also after a failed create. NULL hook: there is nothing
     * to release. */
    void (*destroy)(struct sync *s);
};

/* Returns the compressor's table, or NULL for `none`. */
const struct compressor *compressor_get(enum compressor_kind kind);

/* Numbers [begin, begin + n) of an arena. */
struct span {
    size_t begin, n;
};
struct span span_of(const struct arenas *a, struct range tensors);

/* ---- Exchanges among all ranks, in comm/compressors/exchange.c ---- */

/* Messages between this rank and every other rank. */
struct exchanger {
    struct message *sends, *receives; /* [ranks] each */
    struct exchange messages;         /* the planned messages */
    bool active;                      /* the exchange has begun and has not been waited for */
    int code;                         /* MPI error code of tests of the messages */
};
enum status exchanger_open(struct exchanger *x, struct sync *s, struct error *e);

/* A vector of `n` items of `width` bytes, cut into equal shares as by pool_share: share r
 * belongs to rank r. */
struct shares {
    void *data;
    size_t n, width;
};
size_t shares_begin(const struct shares *v, int rank, int ranks); /* first item of a rank's share */
size_t shares_count(const struct shares *v, int rank, int ranks);

/* Plans an all-to-all of p-1 direct messages in x->messages: every rank receives its own share
 * of every rank's vector. Shares of other ranks arrive in `received` [ranks - 1][share]; the
 * rank's own share stays in the vector. Every rank must begin the exchanges of a communicator in
 * the same order. */
void exchange_plan_scatter(const struct sync *s, struct exchanger *x, const struct shares *v,
                           void *received, MPI_Comm comm, const char *operation);

/* Plans an all-gather of p-1 direct messages in x->messages: every rank's share reaches every
 * rank, in the vector itself. Every rank must begin the exchanges of a communicator in the same
 * order. */
void exchange_plan_gather(const struct sync *s, struct exchanger *x, const struct shares *v,
                          MPI_Comm comm, const char *operation);

/* Returns the address of the share that came from `rank`, which must not be this rank. */
void *exchange_received(const struct sync *s, const struct shares *v, void *received, int rank);

/* Begins the planned messages without waiting. */
enum status exchanger_begin(struct sync *s, struct exchanger *x, struct error *e);
/* Returns whether all messages have arrived and left, without waiting. */
bool exchanger_test(const struct sync *s, struct exchanger *x);
/* Waits for the messages that exchanger_begin started. */
enum status exchanger_wait(const struct sync *s, struct exchanger *x, struct error *e);

/* Plans an all-gather as exchange_plan_gather does, begins it and waits for it. */
enum status exchange_gather(struct sync *s, struct exchanger *x, const struct shares *v,
                            const char *operation, struct error *e);
