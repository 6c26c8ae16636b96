/* Rules of MPICH's algorithms that no strategy has. Internal to comm/cost. */
#pragma once

#include "comm/cost/rounds.h"

extern const struct schedule_rule rule_library_ring;
extern const struct schedule_rule rule_reduce_scatter_gather;
extern const struct schedule_rule rule_binomial_reduce;
extern const struct schedule_rule rule_binomial_bcast;
extern const struct schedule_rule rule_scatter_doubling;
extern const struct schedule_rule rule_scatter_ring;

/* Each rank has `count` numbers; a message carries the numbers of all ranks below its edge. */
extern const struct schedule_rule rule_binomial_gather;
extern const struct schedule_rule rule_binomial_scatter;
/* Every edge carries `count` numbers up, without additions. */
extern const struct schedule_rule rule_binomial_ascent;
