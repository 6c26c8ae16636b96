/* Checkpoints of a network that is divided among several ranks. The first of these ranks gathers
 * the whole network and writes it like an undivided one. */
#pragma once

#include "bench/workloads/checkpoint/checkpoint.h"

/* Gathers the whole network's arenas on the first rank of s->parts->comm; on other ranks `whole` is
 * empty. Collective over that communicator. Call checkpoint_parts_free in any case. */
enum status checkpoint_parts_gather(struct arenas *whole, const struct checkpoint_state *s,
                                    struct error *e);

/* Allocates zeroed arenas for the whole network. Call checkpoint_parts_free in any case. */
enum status checkpoint_parts_open(struct arenas *whole, const struct checkpoint_state *s,
                                  struct error *e);
/* Copies from `whole` to s->arenas: this rank's slice of the parameters, all running statistics
 * and, unless `weights_only`, this rank's slice of the optimizer state. */
void checkpoint_parts_take_slice(const struct checkpoint_state *s, struct arenas *whole,
                                 bool weights_only);

void checkpoint_parts_free(struct arenas *whole);
