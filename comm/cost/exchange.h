/* What the exchanges of comm/compressors/exchange.c cost a rank: messages of our own, so that they
 * can be counted. Internal to comm/cost. */
#pragma once

#include "comm/cost/collectives.h"

/* Bytes of a rank's share of `count` numbers. */
size_t share_bytes(size_t count, int rank, int ranks, size_t width);

/* Every rank hands every other its share of `count` numbers of `width` bytes, and gets its own from
 * each (`back`: the other way round). */
void add_shares(struct cost *c, const struct participant *p, size_t count, size_t width, bool back);

/* Every rank's `bytes` reach every other. */
void add_gathered(struct cost *c, const struct participant *p, size_t bytes);

/* Packets are multiples of 8 bytes. */
size_t packet_round_up(size_t bytes);
