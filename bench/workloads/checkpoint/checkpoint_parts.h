/* Checkpoints of a net whose tensors lie in parts on several ranks: written whole, as any other, by the rank
 * that has the first part. */
#pragma once

#include "bench/workloads/checkpoint/checkpoint.h"

/* *whole: the net's arenas, on the first rank of s->parts->comm; elsewhere empty. Collective over those ranks.
 * Freed with checkpoint_parts_free in any case. */
enum status checkpoint_parts_gather(struct arenas *whole, const struct checkpoint_state *s,
                                    struct error *e);

/* *whole: such arenas, of zeroes. Freed with checkpoint_parts_free in any case. */
enum status checkpoint_parts_open(struct arenas *whole, const struct checkpoint_state *s,
                                  struct error *e);
/* The rank's slice of the whole net's parameters and statistics, and unless weights_only of the optimizer's state,
 * into its own arenas. */
void checkpoint_parts_take_slice(const struct checkpoint_state *s, struct arenas *whole,
                                 bool weights_only);

void checkpoint_parts_free(struct arenas *whole);
