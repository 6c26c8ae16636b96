/* Operations in which ranks exchange shares or packets with each other, and additions that need no
 * messages. Internal to comm/cost. */
#pragma once

#include "comm/cost/description.h"

/* Returns the bytes of a rank's equal share of `count` numbers. */
size_t share_bytes(size_t count, int rank, int ranks, size_t width);

/* Ranks [0, owners) each own an equal share of the numbers. rule_shares_scatter: every rank sends
 * each share to its owner, and owners add what they receive. rule_shares_gather: each owner sends
 * its share to every rank. */
extern const struct schedule_rule rule_shares_scatter, rule_shares_gather;

/* Additions of `count` numbers without messages: by every rank, or by rank 0 only. If there is only
 * one rank, nothing is added. */
extern const struct schedule_rule rule_add, rule_add_at_root;

/* Passes one operation of the step to reader `to`: an exchange by `rule`. Each rank owns a share of
 * the `count` numbers; shares differ by at most one number. Empty messages are not sent. */
void give_shares(const struct step *s, struct reader *to, const struct schedule_rule *rule,
                 size_t count, size_t width);
/* Passes an all-gather to the reader: every rank sends its packet of `bytes` bytes to every other
 * rank. */
void give_packets(const struct step *s, struct reader *to, size_t bytes);
/* Passes to the reader an operation without messages: every rank makes `count` additions of numbers
 * of `width` bytes. */
void give_additions(struct reader *to, size_t count, size_t width);

/* Rounds `bytes` up to a multiple of 8, since packets consist of whole 8-byte words. */
size_t packet_round_up(size_t bytes);
