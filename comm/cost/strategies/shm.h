/* Operations on memory that the ranks of a node share, for the cost model: sum, copy, barrier. No
 * messages are sent. Internal to comm/cost. */
#pragma once

#include "comm/cost/description.h"

/* Passes a sum operation to the reader: a barrier, then each rank sums its share of the `count`
 * numbers over all ranks, then a barrier. */
void give_shared_sum(const struct step *s, struct reader *to, size_t count);
/* Passes a copy operation to the reader: each rank copies the shares that other ranks have summed
 * or updated. */
void give_shared_copy(const struct step *s, struct reader *to, size_t count);
/* Passes a barrier to the reader. */
void give_meeting(const struct step *s, struct reader *to);
