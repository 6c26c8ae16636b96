/* Exchanges of every rank with every other, and work without messages. Internal to comm/cost. */
#pragma once

#include "comm/cost/description.h"

/* Bytes of a rank's share of `count` numbers. */
size_t share_bytes(size_t count, int rank, int ranks, size_t width);

/* Each owner has an equal share of the numbers. scatter: every rank sends each owner its part of the owner's share, and
 * the owner adds. gather: each owner sends its share to every rank. */
extern const struct schedule_rule rule_shares_scatter, rule_shares_gather;

/* Additions of `count` numbers without messages: on every rank, or on rank 0 only. */
extern const struct schedule_rule rule_add, rule_add_at_root;

/* Gives an exchange of shares of `count` numbers. All ranks are owners; empty messages are not sent. */
void give_shares(const struct step *s, struct reader *to, const struct schedule_rule *rule,
                 size_t count, size_t width);
/* Gives an exchange in which every rank sends a packet of `bytes` to every other rank. */
void give_packets(const struct step *s, struct reader *to, size_t bytes);
/* Gives additions of `count` numbers on every rank. */
void give_additions(struct reader *to, size_t count, size_t width);

/* Rounds up to a multiple of 8 bytes, the unit of packets. */
size_t packet_round_up(size_t bytes);
