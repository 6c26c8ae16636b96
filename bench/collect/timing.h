/* Confidence intervals over the timed launches of a point. The summary and the stop rule share
 * these functions, so the stop rule tests the reported intervals. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "kernels/base/stats.h"

/* required confidence level of an interval; fewer than 6 launches cannot reach this level */
#define TIMING_LEVEL 0.95

/* Number of launches between two looks of the stop rule, at 6, 9, 12, ... launches. At each look up
 * to 27 launches, a 95 % interval excludes one more value on each side than at the look before. A
 * launch that does not raise the number of excluded values can only widen the interval. */
#define TIMING_LOOK 3

/* Largest probability of a miss at each look after the first. A look tests whether intervals are
 * narrow enough. A miss is an interval that excludes the true median.
 *
 * Repeated looks let intervals miss the median more often than their level says (P. Armitage, C.
 * McPherson, B. Rowe, "Repeated significance tests on accumulating data", 1969). So the allowed
 * probability of a miss is divided among the looks (K. Lan, D. DeMets, "Discrete sequential
 * boundaries for clinical trials", 1983). The first look, at 6 launches, misses with probability
 * 3.1 %. At 9, 12, 15 and 18 launches the interval is one value wider on each side than 95 % needs,
 * and misses with probability 0.4, 0.6, 0.7 and 0.8 %. A last look at 20 launches adds 1.2 %. The
 * sum, 6.8 %, bounds the probability of a miss within 20 launches for any distribution. With
 * simulated noise, 1 to 4 % of intervals miss the median (test_coverage). */
#define TIMING_ADDED_MISS 0.015

/* A valid timed launch. `images`: number of images per step; NAN: unknown. */
struct timing {
    int block;
    double step_ms, images, comm_replay_ms;
};

/* Timed launches of one point; all pointers are borrowed. `values`: scratch space for one number
 * per launch. `added`: whether launches are added until intervals are narrow. */
struct timings {
    const struct timing *items;
    size_t n;
    double *values;
    bool added;
};

/* Returns the median of n values with its confidence interval; the bounds are NAN if n < 2.
 * `added`: as in struct timings. */
struct interval timing_interval(const double *values, size_t n, bool added);

/* Returns the confidence level of timing_interval, computed as if n were fixed in advance. The
 * level is below TIMING_LEVEL if n is too small; NAN if n < 2. */
double timing_level(size_t n, bool added);

/* Returns the median step time with its interval (ms). */
struct interval timing_step_ms(const struct timings *own);

/* Returns the launch of a block; NULL if the block has none. The search begins at index *at and
 * continues from the start after the end of the list. If a launch is found, *at becomes the index
 * after it. This is fast if blocks come in nearly the order of `timings`. */
const struct timing *timing_in_block(const struct timings *timings, int block, size_t *at);

/* Returns the ratio of throughputs (images per second), own / base: the median over the *n blocks
 * in which both points have a launch. Launches of one block ran under similar conditions. */
struct interval timing_ratio(const struct timings *own, const struct timings *base, size_t *n);

/* Returns the share of communication time hidden behind compute: (T_compute + T_comm - T_step) /
 * T_comm, median over *n blocks. T_compute: step time without communication (`alone`). T_comm: time
 * of communication alone, replayed by the launch of T_step. */
struct interval timing_overlap(const struct timings *own, const struct timings *alone, size_t *n);

/* Returns half the width of an interval in per cent of its median. For a `share`, whose values are
 * fractions, returns it in percentage points. NAN: too few launches for TIMING_LEVEL. */
double timing_half_width_pct(const struct interval *i, bool share);

/* Returns the largest half width (%) of an interval that the stop rule accepts at n launches:
 * precision_pct x min(1, n / 15).
 *
 * The limit is stricter for few launches, because six values may by chance lie close together but
 * away from the median. With a standard deviation of 1.6 times the precision and the same limit at
 * every number of launches, only 77 % of the intervals accepted at 6 launches would contain the
 * true median.
 *
 * No rule prevents all misses with few launches. The median of n launches with standard deviation s
 * has standard error 1.25 s / sqrt(n). An accepted interval reaches at most the precision d to
 * either side. So the interval contains the true median with probability at most P(|Z| <= 0.8
 * sqrt(n) d / s), Z standard normal. With 20 launches, this bound is 97 % for s = 1.6 d, and 89 %
 * for s = 2.3 d (a ratio of two points with s = 1.6 d each). For s = 2.3 d, this rule accepts 1.6 %
 * of intervals; a rule that uses plain 95 % intervals accepts 14 %. With up to 36 launches, 94 % of
 * accepted intervals contain the median. */
double timing_asked_pct(double precision_pct, size_t n);
