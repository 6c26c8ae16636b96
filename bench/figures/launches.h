/* Reads the launches behind the values of a quantity from raw.csv of each run. Internal to
 * bench/figures. */
#pragma once

#include "bench/figures/figure_data.h"
#include "bench/record/launch_rows.h"

struct launches;

/* Returns whether the quantity has one value per launch, read or computed from a column of
 * raw.csv. */
bool launches_have(const struct quantity *q);

/* Reads the launches of all runs. If q->source is SOURCE_POINTS, a run may lack raw.csv and then
 * has no launches. Borrows `d` and `q`. Call launches_free in any case. */
enum status launches_read(struct launches **l, const struct figure_data *d,
                          const struct quantity *q, struct error *e);
void launches_free(struct launches *l);

/* Returns the *n launches of a point, ordered by block. */
const struct launch_row *launches_of(const struct launches *l, size_t point, size_t *n);

/* Writes the median over each point's launches to d->measured. The median is NAN if no launch has a
 * value, or if the quantity is `complete` and any launch lacks a value. */
void launches_measure(struct figure_data *d, const struct launches *l);

double launches_seed(const struct launches *l, size_t point, const struct launch_row *launch);

/* Returns a launch's value in the figure's unit; NAN if the launch has no value. Speed-up and
 * efficiency are relative to the base's launch in the same block. They are NAN if this launch is
 * missing, or if the point is its own base. */
double launches_value(const struct launches *l, size_t point, const struct launch_row *launch);
