/* Compressors reduce the bytes that a gradient sum sends. They replace the gradients by an
 * approximate sum over ranks, with the same bits on every rank. Strategies flagged
 * STRATEGY_COMPRESSES use them. To add a compressor, see comm/cost/compressors.def.
 *
 * With error feedback (COMPRESSOR_FEEDBACK), each rank adds the error of its compression to the
 * next step's gradients (Seide et al., 2014; Karimireddy et al., "Error feedback fixes SignSGD and
 * other gradient compression schemes", 2019). */
#pragma once

#include "comm/strategy.h"

struct compressor {
    size_t context_bytes; /* size of sync->compression, which is zeroed before create */
    /* Allocates in s->memory everything that later sums need. Called before the strategy's own
     * create: the tensors of the arenas are known, but the arenas are not allocated yet. */
    enum status (*create)(struct sync *s, struct error *e);
    /* Replaces the gradients of `tensors` by their sum over ranks. Collective. */
    enum status (*sum)(struct sync *s, struct range tensors, struct error *e);
    /* Together, start, advance, poll and finish run a sum while the rank computes. They are NULL
     * unless the compressor has COMPRESSOR_OVERLAPS. Every rank starts the same sums in the same
     * order. `advance` processes messages that have arrived and starts the next phase. `poll`: as
     * in struct strategy. Only `finish` waits, for all started sums. */
    enum status (*start)(struct sync *s, struct range tensors, struct error *e);
    enum status (*advance)(struct sync *s, struct error *e);
    bool (*poll)(struct sync *s);
    enum status (*finish)(struct sync *s, struct error *e);
    /* Returns the memory [*bytes] that the compressor keeps from step to step, which checkpoints
     * save. NULL hook: the compressor keeps none. */
    void *(*memory)(struct sync *s, size_t *bytes);
    /* Resets the memory that the compressor keeps from step to step. NULL hook: the compressor
     * keeps none. */
    void (*begin)(struct sync *s);
    /* Releases everything that is not in s->memory. Called after a failed create too. NULL hook:
     * there is nothing to release. */
    void (*destroy)(struct sync *s);
};

/* Returns the table of functions of a compressor, or NULL for `none`. */
const struct compressor *compressor_get(enum compressor_kind kind);

/* Elements [begin, begin + n) of an arena. */
struct span {
    size_t begin, n;
};
struct span span_of(const struct arenas *a, struct range tensors);

/* ---- Exchanges among all ranks, in comm/compressors/exchange.c ---- */

/* Messages between this rank and every other rank. */
struct exchanger {
    struct message *sends, *receives; /* arrays [ranks]: at most one message per other rank */
    struct exchange messages;         /* messages of the latest planned exchange */
    bool active; /* whether the exchange has begun and has not been waited for */
    int code;    /* first MPI error code of exchanger_test */
};
enum status exchanger_open(struct exchanger *x, struct sync *s, struct error *e);

/* A vector of `n` items of `width` bytes, divided by pool_share into one share per rank. The sizes
 * of shares differ by at most one item. */
struct shares {
    void *data;
    size_t n, width;
};
size_t shares_begin(const struct shares *v, int rank, int ranks); /* first item of a rank's share */
size_t shares_count(const struct shares *v, int rank, int ranks);

/* Plans an all-to-all in x->messages: every rank receives its own share of every other rank's
 * vector, in `received` [ranks - 1][share]. Every rank must begin the exchanges of a communicator
 * in the same order. */
void exchange_plan_scatter(const struct sync *s, struct exchanger *x, const struct shares *v,
                           void *received, MPI_Comm comm, const char *operation);

/* Plans an all-gather in x->messages: every rank sends its share to all others. Received shares are
 * stored in v->data. Every rank must begin the exchanges of a communicator in the same order. */
void exchange_plan_gather(const struct sync *s, struct exchanger *x, const struct shares *v,
                          MPI_Comm comm, const char *operation);

/* Returns the address in `received` of the share that came from `rank`, which must not be this
 * rank. */
void *exchange_received(const struct sync *s, const struct shares *v, void *received, int rank);

/* Starts the planned messages without waiting. */
enum status exchanger_begin(struct sync *s, struct exchanger *x, struct error *e);
/* Tests the messages without waiting. Returns whether all sends and receives are complete. */
bool exchanger_test(const struct sync *s, struct exchanger *x);
/* Waits for the messages that exchanger_begin started. */
enum status exchanger_wait(const struct sync *s, struct exchanger *x, struct error *e);

/* Plans an all-gather as exchange_plan_gather does, starts it and waits for it. */
enum status exchange_gather(struct sync *s, struct exchanger *x, const struct shares *v,
                            const char *operation, struct error *e);
