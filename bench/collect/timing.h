/* Computes confidence intervals over the timed launches of a point, and the half width that the
 * stop rule of a campaign accepts. The summary and the stop rule both use these functions, so the
 * stop rule tests exactly the reported intervals. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "kernels/base/stats.h"

/* required confidence level of an interval; fewer than 6 launches cannot reach this level */
#define TIMING_LEVEL 0.95

/* Number of launches between two looks: the stop rule examines the precision at 6, 9, 12, ...
 * launches. With 6 launches, a 95 % interval extends from the smallest to the largest value. With
 * 9, 12 and 15 launches, a 95 % interval excludes 1, 2 and 3 values on each side. Between these
 * numbers of launches, a new launch can only widen a 95 % interval. */
#define TIMING_LOOK 3

/* Upper limit of the miss probability that each look after the first adds. A look: the stop rule
 * tests whether intervals are narrow enough. A miss: an interval does not contain the median.
 *
 * If launches are added until intervals are narrow, intervals miss the median more often than their
 * level says. Each look is another chance that values lie close together, but beside the median (P.
 * Armitage, C. McPherson, B. Rowe, "Repeated significance tests on accumulating data", 1969). So
 * the allowed probability of a miss is divided among the looks (K. Lan, D. DeMets, "Discrete
 * sequential boundaries for clinical trials", 1983). The first look, at 6 launches, has a miss
 * probability of 3.1 %; each later look adds at most TIMING_ADDED_MISS. At 9, 12, 15 and 18
 * launches the interval is one value wider on each side than a level of 95 % needs, and misses with
 * probability 0.4, 0.6, 0.7 and 0.8 %. A last look at 20 launches adds 1.2 %. For any distribution,
 * the probability of a miss within 20 launches is at most the sum, 6.8 %. Most campaigns end at one
 * of the first two looks. With simulated noise, 1 to 4 % of intervals miss the median
 * (test_coverage). */
#define TIMING_ADDED_MISS 0.015

/* A valid timed launch. `images`: number of images per step; NAN: unknown. */
struct timing {
    int block;
    double step_ms, images, comm_replay_ms;
};

/* Timed launches of one point; all pointers are borrowed. `values`: scratch space for one number
 * per launch. `added`: launches are added until intervals are narrow; false: the number of launches
 * was fixed in advance. */
struct timings {
    const struct timing *items;
    size_t n;
    double *values;
    bool added;
};

/* Returns the median of n values with its confidence interval, whose bounds are NAN if n < 2.
 * `added`: launches are added until intervals are narrow, which requires a confidence level above
 * TIMING_LEVEL from 9 launches on. */
struct interval timing_interval(const double *values, size_t n, bool added);

/* Returns the confidence level of timing_interval, computed as if n were fixed in advance. The
 * level is below TIMING_LEVEL if n is too small; NAN if n < 2. */
double timing_level(size_t n, bool added);

/* Returns the median step time with its interval (ms). */
struct interval timing_step_ms(const struct timings *own);

/* Returns the launch of a block; NULL: none. Begins the search at index *at, then sets *at to the
 * index after the launch found. A series of calls is fast if it looks up blocks in nearly the order
 * of `timings`. */
const struct timing *timing_in_block(const struct timings *timings, int block, size_t *at);

/* Returns the ratio of throughputs (images per second), own / base: the median over the *n blocks
 * in which both points have a launch. Each ratio compares two launches of one block, since they ran
 * under similar conditions. */
struct interval timing_ratio(const struct timings *own, const struct timings *base, size_t *n);

/* Returns the share of communication time hidden behind compute: (T_compute + T_comm - T_step) /
 * T_comm in each block, median over *n blocks. T_compute is the step time of the point without
 * communication. T_comm is the time of communication alone, replayed by the same launch as
 * T_step. */
struct interval timing_overlap(const struct timings *own, const struct timings *alone, size_t *n);

/* Returns half the width of an interval, in per cent of its median or, for a `share`, in percentage
 * points. NAN: too few launches for TIMING_LEVEL. */
double timing_half_width_pct(const struct interval *i, bool share);

/* Returns the largest half width (%) of an interval that the stop rule accepts at n launches:
 * precision_pct x min(1, n / 15).
 *
 * The limit is stricter for few launches, because six values may lie close together by chance,
 * often on one side of the median. With the same limit at every look, only 77 % of the intervals
 * accepted at 6 launches would contain the median, if noise is 1.6 times the precision.
 *
 * With few launches, no rule prevents misses of the median completely. The median of n launches
 * with standard deviation s has standard error 1.25 s / sqrt(n). An accepted interval reaches at
 * most the precision d to either side. So the interval contains the true median with a probability
 * of at most P(|Z| <= 0.8 sqrt(n) d / s), with Z standard normal. With 20 launches, this bound is
 * 97 % for s = 1.6 d. It is 89 % for s = 2.3 d, as for a ratio of two points with s = 1.6 d each.
 * For s = 2.3 d, a rule should therefore accept few intervals: this rule accepts 1.6 %, a rule with
 * plain 95 % intervals 14 %. With up to 36 launches, 94 % of accepted intervals contain the
 * median. */
double timing_asked_pct(double precision_pct, size_t n);
