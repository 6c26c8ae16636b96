/* Operations in the memory that the ranks of a node share. No messages are sent. Internal to
 * comm/cost. */
#pragma once

#include "comm/cost/description.h"

/* Passes the operation "sum" to the reader: a barrier, each rank's sum of its share of `count`
 * numbers over all ranks, then a barrier. */
void give_shared_sum(const struct step *s, struct reader *to, size_t count);
/* Passes a copy to the reader: each rank copies the shares that other ranks have summed or
 * updated. */
void give_shared_copy(const struct step *s, struct reader *to, size_t count);
/* Passes a barrier to the reader. */
void give_meeting(const struct step *s, struct reader *to);
