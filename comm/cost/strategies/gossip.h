/* Partners of ranks in the strategy gossip. */
#pragma once

#include <stdint.h>

/* Returns the partner of a rank after step `step` (counted from 1) by the circle method of
 * tournaments. m is `ranks` rounded up to an even number. Ranks i and j below m - 1 are partners if
 * i + j = step modulo m - 1. The rank i with 2 i = step modulo m - 1 is the partner of rank m - 1
 * or, if `ranks` is odd, of itself. */
int gossip_partner(int rank, int ranks, uint64_t step);
/* Returns the number of steps after which the partners repeat (m - 1 in gossip_partner). */
uint64_t gossip_rounds(int ranks);
