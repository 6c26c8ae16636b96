/* Who averages with whom. */
#pragma once

#include <stdint.h>

/* The partner of a rank after step number `step`, from 1: the circle method of tournaments, in
 * which ranks i and j meet when i + j = step modulo m - 1, m being `ranks` or, where that is odd,
 * one more: then who should meet the last, who is missing, rests, and is its own partner. After
 * m - 1 steps everyone has met everyone once. */
int gossip_partner(int rank, int ranks, uint64_t step);
/* m - 1 */
uint64_t gossip_rounds(int ranks);
