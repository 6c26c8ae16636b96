/* Averages the weights of all ranks, for strategies whose replicas have different weights. */
#pragma once

#include "comm/strategy.h"

/* State of a strategy whose replicas have different weights; first member of sync->context. */
struct average {
    real *weights; /* [n] this rank's weights, saved while the arena holds the average */
};

/* Allocates the state. Then averages the weights, which are still 0, SYNC_WARM_CALLS times, to open
 * connections. MPICH changes its algorithm after the first few calls, so the change happens here
 * and not during training. Collective. */
enum status average_open(struct sync *s, struct error *e);

/* Replaces the parameters by their average over all ranks, with the same bits on each rank.
 * Collective. */
enum status average_params(struct sync *s, struct error *e);

/* Implement the hooks eval_begin and eval_end of struct strategy: replace the weights by the
 * average for evaluation, then restore this rank's weights. */
enum status average_eval_begin(struct sync *s, struct error *e);
enum status average_eval_end(struct sync *s, struct error *e);
