/* Collective operations as messages: which numbers each rank sends to whom, round by round.
 * Strategies that send their own messages run these rounds over MPI. Counts and predictions
 * (program.h) use the rounds of all strategies. */
#pragma once

#include <stdbool.h>

#include "comm/cost/nodes.h"

/* Numbers [first, first + count), sent to or received from `rank`. Received numbers are added to
 * this rank's own numbers or replace them. */
struct transfer {
    int rank;
    size_t first, count;
    bool add;
};

/* Round of one rank: at most ROUND_TRANSFERS sends and as many receives, all at the same time, then
 * additions and copies. Receive buffers do not overlap send buffers, except that receive i may add
 * into the range of send i. */
enum { ROUND_TRANSFERS = 3 };
struct round {
    struct transfer sends[ROUND_TRANSFERS], receives[ROUND_TRANSFERS];
    int n_sends, n_receives;
    /* count of numbers added after the receives; count copied from other ranks' memory */
    size_t added, copied;
    bool meets; /* the round begins with a barrier of all ranks in shared memory */
};

struct schedule;

/* Algorithm of a collective operation. Sums within a node use messages (except in shm and
 * shm_zero*), because messages can be counted and additions overlap with transfers. */
struct schedule_rule {
    int (*rounds)(const struct schedule *s);
    /* Appends the transfers of round i to an empty *round. */
    void (*round)(const struct schedule *s, int i, struct round *round);
    bool knows_nodes; /* whether the rounds depend on the ranks' nodes (schedule.view) */
    bool whole;       /* messages are never cut into segments */
    bool posted;      /* whether the messages of all rounds are posted together */
    int passes;       /* number of passes over memory per addition; 0 means 1 */
};

/* How numbers are cut into blocks. EVENLY: sizes differ by at most one, larger blocks first.
 * REST_LAST: equal sizes, but the remainder is added to the last block. ROUNDED_UP: equal sizes,
 * rounded up, so the last blocks can be smaller or empty. MPICH uses REST_LAST and ROUNDED_UP. */
enum cut { CUT_EVENLY, CUT_REST_LAST, CUT_ROUNDED_UP };

/* One rank's part in an operation on `count` numbers. */
struct schedule {
    const struct schedule_rule *rule;
    int rank, ranks;
    size_t count;
    size_t segment; /* limit on numbers per message, > 0 */
    /* whether each transfer is one message, even if empty; if false, transfers are cut into
     * segments, and empty ones are not sent */
    bool single;
    enum cut cut;
    int owners; /* ranks [0, owners) each own a share of the numbers */
    struct node_map map;
    struct node_view view; /* the rank's place on its node, and how many ranks this node, the
                              smallest node and the largest node have; set only if
                              rule->knows_nodes */
};

/* Returns the rule of a strategy that is a single operation of point-to-point messages; NULL for
 * other strategies. */
const struct schedule_rule *strategy_schedule(enum strategy_kind strategy);

/* Returns the schedule of `rank` with segments of at most sync.segment bytes, but at least one
 * number. */
struct schedule schedule_of(const struct schedule_rule *rule, const struct strategy_config *config,
                            int rank, int ranks, size_t count, size_t width);

/* Returns the number of rounds, equal on all ranks. A rank can be idle in a round. */
int schedule_rounds(const struct schedule *s);
void schedule_round(const struct schedule *s, int i, struct round *round);

/* Returns the number of messages of a transfer of `count` numbers. */
size_t schedule_messages(const struct schedule *s, size_t count);
