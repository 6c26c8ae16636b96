/* Allreduce out of messages: who sends which numbers to whom, round by round, as plain functions of
 * the rank. A strategy carries the rounds out; its cost adds them up. */
#pragma once

#include <stdbool.h>

#include "comm/cost/nodes.h"

/* Numbers [first, first + count) on their way to or from `rank`. What is received is added to this
 * rank's own or takes their place. */
struct transfer {
    int rank;
    size_t first, count;
    bool add;
};

/* What a rank sends and receives at the same time. What is received meets nothing that is sent,
 * except that receive i may bear on the numbers of send i. */
enum { ROUND_TRANSFERS = 3 };
struct round {
    struct transfer sends[ROUND_TRANSFERS], receives[ROUND_TRANSFERS];
    int n_sends, n_receives;
};

struct schedule;

/* An algorithm that sums by messages. Also within a node: they can be counted, are summed while the
 * next is on its way, and run where nodes are pretended or simulated and have no memory to share. */
struct schedule_rule {
    int (*rounds)(const struct schedule *s);
    /* Fills in a round that is empty. */
    void (*round)(const struct schedule *s, int i, struct round *round);
    bool knows_nodes;
    bool whole; /* messages are not cut */
    int passes; /* over what is received to be added; 0: one */
};

/* Sums `count` numbers over all ranks. */
struct schedule {
    const struct schedule_rule *rule;
    int rank, ranks;
    size_t count;
    size_t segment; /* numbers in a message at most, > 0 */
    struct node_map map;
    struct node_view view; /* of rules that know of nodes */
};

/* The rule of a strategy that sums by messages; NULL of others. */
const struct schedule_rule *strategy_schedule(enum strategy_kind strategy);

/* Numbers of `width` bytes in segments of at most sync.segment, of one number at least. */
struct schedule schedule_of(const struct schedule_rule *rule, const struct strategy_config *config,
                            int rank, int ranks, size_t count, size_t width);

/* The same on every rank: those that have nothing to do in a round sit it out. */
int schedule_rounds(const struct schedule *s);
void schedule_round(const struct schedule *s, int i, struct round *round);

/* Messages that a transfer of so many numbers is cut into. */
size_t schedule_messages(const struct schedule *s, size_t count);

/* Rounds of messages, both ways at the same time: the slower way counts, and the sums. */
struct participant;
struct cost schedule_cost(const struct schedule_rule *rule, const struct strategy_config *config,
                          const struct participant *p, size_t count, size_t width);
