/* The rounds of a ring: the first half sums the blocks, the second half distributes the sums. */
#pragma once

#include "comm/cost/schedule.h"

extern const struct schedule_rule ring_rule;

/* Returns the index of the block whose sum `rank` has after the first half of the rounds. There are
 * `ranks` blocks. */
int ring_block(int rank, int ranks);
