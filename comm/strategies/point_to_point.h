/* Executes rounds of point-to-point messages that follow a schedule (comm/cost/schedule.h). */
#pragma once

#include "comm/cost/schedule.h"
#include "comm/strategy.h"

/* State for executing a schedule on one arena. */
struct point_to_point {
    struct sync *sync; /* borrowed */
    struct schedule schedule;
    /* Combines received numbers with the numbers in the arena; NULL: adds them (sync_add). */
    void (*add)(struct sync *s, real *to, const real *from, size_t count);
    /* [ranks] number of each rank's node; NULL if the schedule ignores nodes or sync.node_ranks is
     * set */
    int *node_of;
    real *numbers;                    /* [n] arena whose numbers the current round exchanges */
    real *received;                   /* receive buffer for numbers that are added to `numbers` */
    struct message *sends, *receives; /* messages of one round */
    struct addition *additions;       /* [n_receives] how each message of a round is added */
};

/* Opens the executor. The arenas must be allocated. Collective. */
enum status point_to_point_open(struct point_to_point *b, struct sync *s, struct error *e);

/* Implements the hook sum_gradients of struct strategy. A struct point_to_point must be the first
 * member of sync->context. */
enum status point_to_point_sum(struct sync *s, struct error *e);

/* Runs rounds [first, last) of the schedule on numbers [n]. Collective. */
enum status point_to_point_rounds(struct point_to_point *b, real *numbers, int first, int last,
                                  struct error *e);
