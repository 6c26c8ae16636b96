/* The mean of replicas that differ, for strategies whose ranks step by themselves. */
#pragma once

#include "comm/strategy.h"

/* What the context of such a strategy begins with. */
struct average {
    real *weights; /* [n] this rank's, while the mean is in the arena */
};

/* Allocates, and warms the library up. Collective. */
enum status average_open(struct sync *s, struct error *e);

/* Parameters become their mean over all ranks, the same bits on each. Collective. */
enum status average_params(struct sync *s, struct error *e);

/* Hooks of struct strategy: the model to evaluate is the mean. */
enum status average_eval_begin(struct sync *s, struct error *e);
enum status average_eval_end(struct sync *s, struct error *e);
