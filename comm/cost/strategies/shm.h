/* Operations in the memory that the ranks of a node share. No messages are sent. Internal to comm/cost. */
#pragma once

#include "comm/cost/description.h"

/* Gives a sum. After a barrier each rank adds its share of the `count` numbers of all ranks; a second barrier
 * follows. */
void give_shared_sum(const struct step *s, struct reader *to, size_t count);
/* Gives a copy: each rank copies the shares that other ranks have summed or updated. */
void give_shared_copy(const struct step *s, struct reader *to, size_t count);
/* Gives a barrier. */
void give_meeting(const struct step *s, struct reader *to);
