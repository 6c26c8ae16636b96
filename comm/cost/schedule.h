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

/* What a rank sends and receives at the same time, and does in its own memory afterwards. Receive buffers do not
 * overlap send buffers, except that receive i may add into the range of send i. */
enum { ROUND_TRANSFERS = 3 };
struct round {
    struct transfer sends[ROUND_TRANSFERS], receives[ROUND_TRANSFERS];
    int n_sends, n_receives;
    size_t added,
        copied; /* numbers that this rank adds, and that it copies from the memory of other ranks */
    bool meets; /* first, all ranks wait for each other in shared memory */
};

struct schedule;

/* An algorithm. Sums within a node are messages as well: these can be counted, are added while the next one is in
 * transit, and run where nodes are emulated or simulated and have no memory to share. */
struct schedule_rule {
    int (*rounds)(const struct schedule *s);
    /* Fills in a round that is empty. */
    void (*round)(const struct schedule *s, int i, struct round *round);
    bool knows_nodes;
    bool whole;  /* messages are not cut */
    bool posted; /* all rounds are one wait: messages do not wait for those of rounds before */
    int passes;  /* over the numbers of an addition; 0: one */
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
    struct node_view view; /* of rules that know of nodes */
};

/* The rule of a strategy that sums by messages; NULL of others. */
const struct schedule_rule *strategy_schedule(enum strategy_kind strategy);

/* Numbers of `width` bytes in segments of at most sync.segment, of one number at least. */
struct schedule schedule_of(const struct schedule_rule *rule, const struct strategy_config *config,
                            int rank, int ranks, size_t count, size_t width);

/* Returns the same number on every rank. A rank may have nothing to do in a round. */
int schedule_rounds(const struct schedule *s);
void schedule_round(const struct schedule *s, int i, struct round *round);

/* Messages that a transfer of `count` numbers is cut into. */
size_t schedule_messages(const struct schedule *s, size_t count);
