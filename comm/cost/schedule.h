/* Collective operations as messages: which numbers each rank sends to whom, round by round, as plain functions of the
 * rank. Strategies that send their own messages run the rounds over MPI; readers of programs (program.h) go through
 * those of all strategies. */
#pragma once

#include <stdbool.h>

#include "comm/cost/nodes.h"

/* Numbers [first, first + count), sent to or received from `rank`. Received numbers are added to this rank's own or
 * replace them. */
struct transfer {
    int rank;
    size_t first, count;
    bool add;
};

/* Simultaneous transfers of a rank, then work in its own memory. Receive buffers do not
 * overlap send buffers, except that receive i may add into the range of send i. */
enum { ROUND_TRANSFERS = 3 };
struct round {
    struct transfer sends[ROUND_TRANSFERS], receives[ROUND_TRANSFERS];
    int n_sends, n_receives;
    size_t added,
        copied; /* numbers that this rank adds, and numbers that it copies from other ranks' memory */
    bool meets; /* begins with a barrier in shared memory */
};

struct schedule;

/* An algorithm. Sums within a node are messages as well: these can be counted, are added while the next one is in
 * transit, and run where nodes are emulated or simulated and have no memory to share. */
struct schedule_rule {
    int (*rounds)(const struct schedule *s);
    /* Appends the transfers of round i to an empty *round. */
    void (*round)(const struct schedule *s, int i, struct round *round);
    bool knows_nodes; /* needs struct schedule's view */
    bool whole;       /* messages are not cut */
    bool posted;      /* messages of all rounds are posted together */
    int passes;       /* passes over memory per addition; 0: one */
};

/* How numbers are cut into blocks: evenly (larger blocks first), evenly with the remainder in the last block, or into
 * blocks of the size rounded up, of which the last ones are smaller or empty. MPICH does the last two. */
enum cut { CUT_EVENLY, CUT_REST_LAST, CUT_ROUNDED_UP };

/* One rank's part in an operation on `count` numbers. */
struct schedule {
    const struct schedule_rule *rule;
    int rank, ranks;
    size_t count;
    size_t segment; /* largest message in numbers, > 0 */
    bool
        single; /* each transfer is one message, even if it is empty; else empty ones are not sent */
    enum cut cut;
    int owners; /* ranks [0, owners) own a share of the numbers */
    struct node_map map;
    struct node_view view; /* set if rule->knows_nodes */
};

/* Returns the rule of a strategy that sends its own messages, or NULL. */
const struct schedule_rule *strategy_schedule(enum strategy_kind strategy);

/* Returns the schedule of `rank`. Segments have at most sync.segment bytes, but at least one number. */
struct schedule schedule_of(const struct schedule_rule *rule, const struct strategy_config *config,
                            int rank, int ranks, size_t count, size_t width);

/* Returns the same number on every rank. A rank may have nothing to do in a round. */
int schedule_rounds(const struct schedule *s);
void schedule_round(const struct schedule *s, int i, struct round *round);

/* Returns the number of messages of a transfer of `count` numbers. */
size_t schedule_messages(const struct schedule *s, size_t count);
