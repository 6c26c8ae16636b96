/* The rounds of adasum. */
#pragma once

#include <stdbool.h>

/* What a rank does in one round of adasum: sends its gradient, and receives one that it combines
 * with its own, or that takes its place. */
struct adasum_round {
    int partner;
    bool sends, receives, combines;
};
int adasum_rounds(int ranks);
struct adasum_round adasum_round(int rank, int ranks, int i);
