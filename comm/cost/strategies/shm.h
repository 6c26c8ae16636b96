/* Operations in memory that the ranks of a node share: nothing is sent. Internal to comm/cost. */
#pragma once

#include "comm/cost/description.h"

/* Gives a sum: after a barrier each rank adds its share of `count` numbers from all ranks' memory; then a barrier. */
void give_shared_sum(const struct step *s, struct reader *to, size_t count);
/* Gives a copy: each rank copies the shares of all other ranks. */
void give_shared_copy(const struct step *s, struct reader *to, size_t count);
/* Gives a barrier. */
void give_meeting(const struct step *s, struct reader *to);
