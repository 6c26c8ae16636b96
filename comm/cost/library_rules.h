/* Rules for the algorithms of MPICH that have no strategy of their own. Internal to comm/cost. */
#pragma once

#include "comm/cost/rounds.h"

extern const struct schedule_rule rule_library_ring;
extern const struct schedule_rule rule_reduce_scatter_gather;
extern const struct schedule_rule rule_binomial_reduce;
extern const struct schedule_rule rule_binomial_bcast;
extern const struct schedule_rule rule_scatter_doubling;
extern const struct schedule_rule rule_scatter_ring;

/* Gather and scatter over a binomial tree. Each rank has `count` numbers. A message carries the
 * numbers of all ranks in the child's subtree. */
extern const struct schedule_rule rule_binomial_gather;
extern const struct schedule_rule rule_binomial_scatter;
/* As rule_binomial_reduce, but without additions: each child sends `count` numbers to its parent,
 * which only receives them. Describes messages that precede a reduction, such as the lengths of
 * pickles. */
extern const struct schedule_rule rule_binomial_ascent;
