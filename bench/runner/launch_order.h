/* What a campaign runs next. The order is a function of the spec, a seed and the journal alone, so
 * a campaign that was interrupted goes on as if it had not been:
 *
 *   block 0 of the timed launches: every point once, in random order
 *   accuracy runs: every point and seed
 *   blocks up to measure.time.launches' least, each in an order of its own
 *   further blocks of the points whose precision is not met, each with its base, so that ratios
 *   stay paired by block; until all are met, or the most launches or the budget are reached
 *
 * The budget counts launches, not idle time: block 0 and accuracy runs always run, a further block
 * is started only when it is expected to end in time, and a started block is completed. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bench/record/journal.h"
#include "bench/spec/spec.h"
#include "kernels/base/error.h"

struct launch_order {
    const struct spec *spec;       /* borrowed */
    const struct journal *journal; /* borrowed */
    const char *run_dir;           /* borrowed */
    uint64_t seed;
    uint32_t *shuffled; /* [n_points], scratch */
    int *blocks;        /* [n_points], scratch */
    double *step_ms;    /* of the journal's launches; NAN where there is none */
    size_t n_step_ms;
    double *sample; /* [n_step_ms], scratch */
};

struct next_launch {
    size_t point;
    enum launch_run run;
    int block;     /* of RUN_TIME */
    uint64_t seed; /* of the workload */
};

/* How far it is. `left` and `left_s` count what is sure to come and the further launches that the
 * precision is expected to take, within the budget. */
struct launch_forecast {
    size_t done, left;
    double left_s; /* NAN while no launch has ended */
    bool at_most;  /* how many a point needs cannot be told yet: the most it may have are counted */
};

/* Ended with launch_order_close in any case. */
enum status launch_order_open(struct launch_order *o, const struct spec *spec,
                              const struct journal *journal, const char *run_dir, uint64_t seed,
                              struct error *e);
void launch_order_close(struct launch_order *o);

/* Reads the results of launches that the journal has gained. */
enum status launch_order_learn(struct launch_order *o, struct error *e);

/* False when the campaign is done. */
bool launch_order_next(struct launch_order *o, struct next_launch *next);

struct launch_forecast launch_order_forecast(const struct launch_order *o);

/* Whether a point has accuracy runs: strategy none at several ranks trains replicas apart, and the
 * accuracy of one of them would mean nothing. */
bool point_wants_accuracy(const struct point *point);
