/* The messages of MPICH's algorithms that are not those of a strategy. Internal to comm/cost. */
#pragma once

#include "comm/cost/rounds.h"

extern const struct schedule_rule rule_library_ring;
extern const struct schedule_rule rule_reduce_scatter_gather;
extern const struct schedule_rule rule_binomial_reduce;
extern const struct schedule_rule rule_binomial_bcast;
extern const struct schedule_rule rule_scatter_doubling;
extern const struct schedule_rule rule_scatter_ring;

/* `count` numbers of each rank: a message carries those of all ranks below the edge. */
extern const struct schedule_rule rule_binomial_gather;
extern const struct schedule_rule rule_binomial_scatter;
/* All edges carry `count` numbers up, and nothing is added. */
extern const struct schedule_rule rule_binomial_ascent;
