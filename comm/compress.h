/* Compressors: what stands in for the sum of a strategy flagged STRATEGY_COMPRESSES. Such a
 * strategy calls sync_sum for ranges of tensors; a compressor leaves there what it makes of all
 * ranks' gradients, the same bits on every rank. One .c a compressor, exporting one const table,
 * and one line in comm/cost/compressors.def.
 *
 * With error feedback (Seide et al., 2014; Karimireddy et al., "Error feedback fixes SignSGD and
 * other gradient compression schemes", 2019) a rank adds to its gradients what earlier steps left
 * out of them, and keeps what this step leaves out. */
#pragma once

#include "comm/strategy.h"

struct compressor {
    size_t context_bytes; /* of sync->compression, which is zeroed before create */
    /* Allocates in s->memory all that sums need: nothing is allocated later. Before the strategy's own create;
     * the arenas have no memory yet, their tensors are known. */
    enum status (*create)(struct sync *s, struct error *e);
    /* Replaces the gradients of the tensors by the sum over ranks. Collective. */
    enum status (*sum)(struct sync *s, struct range tensors, struct error *e);
    /* The same in parts, of compressors flagged COMPRESSOR_OVERLAPS, else NULL. Every rank starts the same sums in the
     * same order. `start` and `advance`, which does with what has arrived what comes next, do not wait; `finish` waits
     * for all that were started. `poll` is that of a strategy. */
    enum status (*start)(struct sync *s, struct range tensors, struct error *e);
    enum status (*advance)(struct sync *s, struct error *e);
    bool (*poll)(struct sync *s);
    enum status (*finish)(struct sync *s, struct error *e);
    /* Memory [*bytes] that lasts from step to step, for checkpoints; NULL hook: there is none. */
    void *(*memory)(struct sync *s, size_t *bytes);
    /* Sets that memory to what it is before the first step. */
    void (*begin)(struct sync *s);
    /* Ends what is not memory, also after a create that has failed. NULL: nothing. */
    void (*destroy)(struct sync *s);
};

/* NULL for `none`. */
const struct compressor *compressor_get(enum compressor_kind kind);

/* The numbers of some tensors in an arena: [begin, begin + n). */
struct span {
    size_t begin, n;
};
struct span span_of(const struct arenas *a, struct range tensors);

/* ---- Exchanges among all ranks, of comm/compressors/exchange.c ---- */

/* Room for messages to and from every other rank. */
struct exchanger {
    struct message *sends, *receives; /* [ranks] each */
    struct exchange messages;         /* that were planned */
    bool active;                      /* begun, and not waited for */
    int code;                         /* MPI's, of tests of them */
};
enum status exchanger_open(struct exchanger *x, struct sync *s, struct error *e);

/* A vector of `n` items of `width` bytes, cut into shares as pool_share does: share r is rank
 * r's. */
struct shares {
    void *data;
    size_t n, width;
};
size_t shares_begin(const struct shares *v, int rank, int ranks); /* in items */
size_t shares_count(const struct shares *v, int rank, int ranks);

/* Plans x->messages: those of one communicator are begun in the same order on every rank. Every rank gets its own share
 * of every rank's vector: those of the others go to `received` [ranks - 1][share], one's own stays in the vector. An
 * all-to-all by p-1 direct messages. */
void exchange_plan_scatter(const struct sync *s, struct exchanger *x, const struct shares *v,
                           void *received, MPI_Comm comm, const char *operation);

/* The same; every rank's share reaches every rank. An all-gather by p-1 direct messages. */
void exchange_plan_gather(const struct sync *s, struct exchanger *x, const struct shares *v,
                          MPI_Comm comm, const char *operation);

/* Where the share that came from a rank lies, which is not this one. */
void *exchange_received(const struct sync *s, const struct shares *v, void *received, int rank);

/* Begins what was planned, without waiting. */
enum status exchanger_begin(struct sync *s, struct exchanger *x, struct error *e);
/* Whether all has arrived and left, without waiting. */
bool exchanger_test(const struct sync *s, struct exchanger *x);
/* Waits for what was begun. */
enum status exchanger_wait(const struct sync *s, struct exchanger *x, struct error *e);

/* The gather, begun and waited for. */
enum status exchange_gather(struct sync *s, struct exchanger *x, const struct shares *v,
                            const char *operation, struct error *e);
