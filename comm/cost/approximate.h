/* What the strategies cost that are not exact, or not in step. Internal to comm/cost. */
#ifndef SCALEBENCH_COMM_COST_APPROXIMATE_H
#define SCALEBENCH_COMM_COST_APPROXIMATE_H

#include "comm/cost/collectives.h"

/* A sum that is under way while the next step computes. */
struct cost cost_delayed(const struct party *p, size_t count, size_t width);

/* A period of form->period steps, of those after form->post_local; before, every step costs as
 * much. */
struct cost cost_local_sgd(const struct strategy_form *form, const struct party *p, size_t count,
                           size_t width);

#endif
