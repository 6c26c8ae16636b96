/* The launches behind what points have of a quantity, from raw.csv of each run. Internal to
 * bench/figures. */
#pragma once

#include "bench/figures/figure_data.h"
#include "bench/record/launch_rows.h"

struct launches;

/* Whether the quantity has one value a launch. */
bool launches_have(const struct quantity *q);

/* Of a run without raw.csv there are none, and no quantity of another source than POINTS. `d` and `q` are borrowed as long as the launches, which
 * launches_free frees in any case. */
enum status launches_read(struct launches **l, const struct figure_data *d,
                          const struct quantity *q, struct error *e);
void launches_free(struct launches *l);

/* Those of a point by block, *n of them. */
const struct launch_row *launches_of(const struct launches *l, size_t point, size_t *n);

/* Median over the launches of each point, into d->measured. */
void launches_measure(struct figure_data *d, const struct launches *l);

/* The seed of one of them. */
double launches_seed(const struct launches *l, size_t point, const struct launch_row *launch);

/* One of them in the unit of the figure; of a speed-up and an efficiency the ratio to the base's
 * launch of the same block. NAN where that is none. */
double launches_value(const struct launches *l, size_t point, const struct launch_row *launch);
