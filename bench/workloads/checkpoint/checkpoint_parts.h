/* Checkpoints of a net in parts on several ranks. The rank with the first part writes it whole,
 * like any other. */
#pragma once

#include "bench/workloads/checkpoint/checkpoint.h"

/* Gathers the whole net's arenas on the first rank of s->parts->comm; other ranks get empty ones.
 * Collective over that communicator. Call checkpoint_parts_free in any case. */
enum status checkpoint_parts_gather(struct arenas *whole, const struct checkpoint_state *s,
                                    struct error *e);

/* Allocates zeroed arenas for the whole net. Call checkpoint_parts_free in any case. */
enum status checkpoint_parts_open(struct arenas *whole, const struct checkpoint_state *s,
                                  struct error *e);
/* Copies this rank's slice of parameters and statistics into its own arenas, and of optimizer state
 * unless weights_only. */
void checkpoint_parts_take_slice(const struct checkpoint_state *s, struct arenas *whole,
                                 bool weights_only);

void checkpoint_parts_free(struct arenas *whole);
