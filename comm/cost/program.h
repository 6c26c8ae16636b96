/* The program of a strategy: the operations by which ranks synchronise gradients in a step. It is a
 * pure function of strategy, options, tensors, ranks and nodes, without MPI. All ranks run the same operations in the
 * same order; the rule of an operation says what each rank sends, receives, adds and copies in it, round by round.
 *
 * Strategies that compress or let the library sum have operations of the library: its algorithms are rules as well.
 * Readers process the operations: count.c counts one rank's messages, and sweep.h finds when each rank finishes.
 *
 * The variants stale and async of param_server have the program of sync: they send the same messages, in an order that
 * depends on time. To find the times, a reader needs a queue of events. */
#pragma once

#include "comm/cost/schedule.h"

struct operation {
    const struct schedule_rule *rule; /* NULL: nothing is sent */
    size_t count, width;              /* numbers that each rank has, and bytes of a number */
    size_t segment;                   /* largest message in numbers; 0: messages are not cut */
    bool single;                      /* as in struct schedule */
    enum cut cut;
    int owners;          /* as in struct schedule, for rules of shares */
    struct node_map map; /* for rules that know of nodes */
    size_t tensor; /* begins when backward has produced the gradients of tensors from this one on */
    bool is_call;  /* one call of the library, given `count` numbers; else each message is a call */
    unsigned algorithm; /* bit of the algorithm that an allreduce of the library runs, or 0 */
};

/* Returns the schedule of `rank` in an operation, whose rule must not be NULL. */
struct schedule operation_schedule(const struct operation *op, int rank, int ranks);

/* Returns an operation of a strategy's own messages. They are cut at sync.segment unless the rule is `whole`. */
struct operation operation_of_messages(const struct schedule_rule *rule,
                                       const struct strategy_config *config, int ranks,
                                       size_t count, size_t width);

/* Receives the operations of a program one after another. Embedded in the state of each reader. */
struct reader {
    void (*read)(struct reader *reader, const struct operation *op);
};

static inline void reader_give(struct reader *reader, struct operation op)
{
    reader->read(reader, &op);
}

/* Gives the program of a strategy to the reader, for tensors of counts[n] numbers of `width` bytes. Returns the
 * number of steps after which the program repeats. */
uint64_t program_read(enum strategy_kind strategy, const struct strategy_config *config, int ranks,
                      const size_t *counts, size_t n, size_t width, struct reader *reader);

/* Reader that adds the communication of one rank to *cost, which is borrowed. */
struct counter {
    struct reader reader;
    struct cost *cost;
    int rank, ranks;
};
struct counter counter_of(struct cost *cost, int rank, int ranks);

/* Reader that keeps the operations of a program in a list. Call program_list_free afterwards. */
struct program_list {
    struct reader reader;
    struct operation *all; /* [n] */
    size_t n;
    enum status status; /* ERR_MEMORY with *e: operations are missing */
    struct error *e;
};
struct program_list program_list_of(struct error *e);
void program_list_free(struct program_list *list);
