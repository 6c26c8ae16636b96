/* Mean of the weights of all ranks, for strategies whose replicas differ. */
#pragma once

#include "comm/strategy.h"

/* State of a strategy whose replicas differ; first member of its context. */
struct average {
    real *weights; /* [n] this rank's weights, while the arena holds the mean */
};

/* Allocates the struct average and warms up the MPI library. Collective. */
enum status average_open(struct sync *s, struct error *e);

/* Replaces the parameters by their mean over all ranks, with the same bits on each rank.
 * Collective. */
enum status average_params(struct sync *s, struct error *e);

/* Hooks of struct strategy that evaluate the mean. */
enum status average_eval_begin(struct sync *s, struct error *e);
enum status average_eval_end(struct sync *s, struct error *e);
