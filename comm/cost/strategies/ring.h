/* The rounds of a ring: the first half sums blocks, the second hands them out. */
#pragma once

#include "comm/cost/schedule.h"

extern const struct schedule_rule ring_rule;

/* The block, of as many equal ones as there are ranks, whose sum a rank holds after the first half. */
int ring_block(int rank, int ranks);
