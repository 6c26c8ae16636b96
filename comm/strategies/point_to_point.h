/* Rounds of point-to-point messages that follow a schedule (comm/cost/schedule.h). */
#pragma once

#include "comm/cost/schedule.h"
#include "comm/strategy.h"

/* Executor of a schedule on one arena. */
struct point_to_point {
    struct sync *sync; /* borrowed */
    struct schedule schedule;
    /* Adds or otherwise combines received numbers; NULL: sync_add. */
    void (*add)(struct sync *s, real *to, const real *from, size_t count);
    /* [ranks] node of each rank, for schedules that depend on nodes; otherwise NULL */
    int *node_of;
    real *numbers;                    /* [n] arena of the current round */
    real *received;                   /* numbers of one round that will be added */
    struct message *sends, *receives; /* messages of one round */
    struct addition *additions;       /* [n_receives] additions of one round */
};

/* Opens the executor after the arenas have their memory. Collective. */
enum status point_to_point_open(struct point_to_point *b, struct sync *s, struct error *e);

/* Hook of struct strategy, whose context begins with a struct point_to_point. */
enum status point_to_point_sum(struct sync *s, struct error *e);

/* Runs rounds [first, last) of the schedule on numbers [n]. Collective. */
enum status point_to_point_rounds(struct point_to_point *b, real *numbers, int first, int last,
                                  struct error *e);
