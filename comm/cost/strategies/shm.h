/* Operations in memory that the ranks of a node share: nothing is sent. Internal to comm/cost. */
#pragma once

#include "comm/cost/description.h"

/* Ranks wait for each other, each adds its share of `count` numbers from the memory of the others, and they wait again. */
void give_shared_sum(const struct step *s, struct reader *to, size_t count);
/* Each rank copies the shares of the others. */
void give_shared_copy(const struct step *s, struct reader *to, size_t count);
/* Ranks wait for each other. */
void give_meeting(const struct step *s, struct reader *to);
