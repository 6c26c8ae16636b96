/* The mean of replicas that differ, for strategies whose ranks step by themselves. */
#ifndef SCALEBENCH_COMM_AVERAGE_H
#define SCALEBENCH_COMM_AVERAGE_H

#include "comm/strategy.h"

/* What makes the mean the model to evaluate, and puts a rank's own weights back. */
struct average {
    real *own; /* [n] while the mean stands in the arena */
};

enum status average_open(struct average *a, struct sync *s, struct error *e);
void average_close(struct average *a);

/* Parameters become their mean over all ranks, the same bits on each. Collective. */
enum status average_params(struct sync *s, struct error *e);

/* The same until average_end. Collective. */
enum status average_begin(struct average *a, struct sync *s, struct error *e);
void average_end(const struct average *a, struct sync *s);

#endif
