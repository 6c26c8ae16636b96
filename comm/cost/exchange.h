/* Exchanges of every rank with every other, and work without messages. Internal to comm/cost. */
#pragma once

#include "comm/cost/description.h"

/* Bytes of a rank's share of `count` numbers. */
size_t share_bytes(size_t count, int rank, int ranks, size_t width);

/* Ranks own an equal share each of the numbers, if they are among the owners. Every rank sends each owner its numbers
 * of the owner's share, which the owner adds; or each owner sends its share to every rank. */
extern const struct schedule_rule rule_shares_scatter, rule_shares_gather;

/* Every rank adds `count` numbers; rank 0 alone does. */
extern const struct schedule_rule rule_add, rule_add_at_root;

/* Messages of a strategy's own for shares of `count` numbers that all ranks own; empty ones are not sent. */
void give_shares(const struct step *s, struct reader *to, const struct schedule_rule *rule,
                 size_t count, size_t width);
/* Every rank's packet of `bytes` reaches every other. */
void give_packets(const struct step *s, struct reader *to, size_t bytes);
/* Every rank adds so many numbers. */
void give_additions(struct reader *to, size_t count, size_t width);

/* Packets are multiples of 8 bytes. */
size_t packet_round_up(size_t bytes);
