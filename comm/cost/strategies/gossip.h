/* Partners of gossip. */
#pragma once

#include <stdint.h>

/* The partner of a rank after step number `step`, from 1, by the circle method of tournaments: ranks i and j meet if
 * i + j = step modulo m - 1. m is `ranks`, or one more if that is odd; then the rank that should meet the missing one is
 * its own partner. After m - 1 steps every rank has met every other once. */
int gossip_partner(int rank, int ranks, uint64_t step);
/* m - 1 */
uint64_t gossip_rounds(int ranks);
