/* Rounds of messages of our own, carried out as a schedule says: what strategies of messages are made
 * of. */
#pragma once

#include "comm/cost/schedule.h"
#include "comm/strategy.h"

/* One arena's rounds. */
struct point_to_point {
    struct sync *sync; /* borrowed */
    struct schedule schedule;
    /* Adds what was received, or combines it in another way; NULL: sync_add. */
    void (*add)(struct sync *s, real *to, const real *from, size_t count);
    int *node_of;                     /* [ranks], for schedules that go by nodes, or NULL */
    real *numbers;                    /* [n]: the arena that a round is about */
    real *received;                   /* what is to be added, of one round */
    struct message *sends, *receives; /* of one round */
    struct addition *additions;       /* one for each of receives */
};

/* After the arenas have their memory. Collective. */
enum status point_to_point_open(struct point_to_point *b, struct sync *s, struct error *e);

/* Hook of struct strategy, whose context begins with one of these. */
enum status point_to_point_sum(struct sync *s, struct error *e);

/* Rounds [first, last) of the schedule on the numbers of an arena. Collective. */
enum status point_to_point_rounds(struct point_to_point *b, real *numbers, int first, int last,
                                  struct error *e);
