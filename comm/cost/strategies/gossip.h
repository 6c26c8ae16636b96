/* Partners of ranks in the strategy gossip. */
#pragma once

#include <stdint.h>

/* Returns the partner of a rank after step `step` (counted from 1) by the circle method of
 * tournaments. m is `ranks` rounded up to an even number. Two different ranks i and j below m - 1
 * are partners if i + j = step modulo m - 1. One rank i has 2 i = step modulo m - 1: its partner is
 * rank m - 1. If `ranks` is odd, there is no rank m - 1: this rank i has no partner, and the
 * function returns i. */
int gossip_partner(int rank, int ranks, uint64_t step);
/* Returns the number of steps after which the sequence of partners repeats: ranks - 1 if `ranks` is
 * even, otherwise `ranks`. */
uint64_t gossip_rounds(int ranks);
