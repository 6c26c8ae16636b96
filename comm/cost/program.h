/* The program of a strategy: the operations by which ranks synchronise, in one step or a period of
 * steps. It is a pure function of strategy, options, tensors, ranks and nodes. All ranks run the
 * same operations in the same order. The rule of an operation defines the numbers that each rank
 * sends, receives, adds and copies in each round. MPI calls are operations too.
 *
 * Readers process the operations: count.c counts the messages of a rank, sweep.h finds when each
 * rank finishes, and trace.h writes traces for simulators.
 *
 * The variants stale and async of param_server have the same program as variant sync, although the
 * order of their messages depends on time. */
#pragma once

#include "comm/cost/schedule.h"

struct operation {
    const struct schedule_rule *rule; /* rounds; NULL: ranks send, add and copy nothing */
    size_t count, width;              /* count of numbers per rank, and bytes per number */
    size_t segment;                   /* limit on numbers per message; 0: no limit */
    bool single;                      /* each transfer is one message, even if empty */
    enum cut cut;
    int owners;          /* number of ranks that own a share of the numbers: ranks [0, owners) */
    struct node_map map; /* nodes of the ranks, for rules with knows_nodes */
    /* index of a tensor: before the operation starts, the gradients of this tensor and of all
     * tensors with higher indices must be ready. 0: the operation starts after backward */
    size_t tensor;
    /* whether all messages of a rank are one MPI call with `count` numbers; if false, each send and
     * each receive is one call */
    bool is_call;
    unsigned algorithm; /* 1 << the library's allreduce algorithm; 0: no allreduce */
};

/* Returns the schedule of `rank` in an operation. op->rule must not be NULL. */
struct schedule operation_schedule(const struct operation *op, int rank, int ranks);

/* Returns an operation of point-to-point messages that follows `rule`. Unless rule->whole is set,
 * each message has at most sync.segment bytes, but at least one number. */
struct operation operation_of_messages(const struct schedule_rule *rule,
                                       const struct strategy_config *config, int ranks,
                                       size_t count, size_t width);

/* Consumer of a program: `read` is called for each operation, in order. A reader with state has its
 * own struct, which begins with this one. */
struct reader {
    void (*read)(struct reader *reader, const struct operation *op);
};

static inline void reader_give(struct reader *reader, struct operation op)
{
    reader->read(reader, &op);
}

/* Calls reader->read for each operation of a strategy's program, for n tensors of counts[i] numbers
 * of `width` bytes. Returns the number of steps after which the program repeats. */
uint64_t program_read(enum strategy_kind strategy, const struct strategy_config *config, int ranks,
                      const size_t *counts, size_t n, size_t width, struct reader *reader);

/* Reader of a strategy's program: adds the cost of `rank` in each operation to *cost (borrowed). */
struct counter {
    struct reader reader;
    struct cost *cost;
    int rank, ranks;
};
struct counter counter_of(struct cost *cost, int rank, int ranks);

/* Program reader that keeps the operations in a list. Call program_list_free afterwards. */
struct program_list {
    struct reader reader;
    struct operation *all; /* [n] operations */
    size_t n;
    enum status status; /* ERR_MEMORY, with *e set: the list is incomplete */
    struct error *e;
};
struct program_list program_list_of(struct error *e);
void program_list_free(struct program_list *list);
