/* What the schedules are put together from. Internal to comm/cost. */
#ifndef SCALEBENCH_COMM_COST_ROUNDS_H
#define SCALEBENCH_COMM_COST_ROUNDS_H

#include "comm/cost/schedule.h"

void round_send(struct round *r, int to, size_t first, size_t count);
/* To be added to this rank's own, or in their place. */
void round_receive(struct round *r, int from, size_t first, size_t count, bool add);

/* Numbers [*first, *first + *count) of blocks [begin, end) when `numbers` are cut into `blocks`. */
void block_range(size_t numbers, int blocks, int begin, int end, size_t *first, size_t *count);

/* The schedules that know of nodes. */
int hierarchical_rounds(const struct schedule *s);
void hierarchical_round(const struct schedule *s, int i, struct round *r);
int leader_rounds(const struct schedule *s);
void leader_round(const struct schedule *s, int i, struct round *r);

#endif
