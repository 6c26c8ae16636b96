/* Intervals of a point's timed launches, from the numbers in the journal, and the precision that
 * they must reach. The summary and the stop rule of a campaign both use these functions, so
 * reported intervals are the tested ones. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "kernels/base/stats.h"

/* confidence level of every interval */
#define TIMING_LEVEL 0.95

/* Launches between two looks of the stop rule; the first look is at twice as many. From 6 launches
 * on, the exact 95 % interval is smallest to largest value. At 9 launches it can drop one value on
 * each side, and again at every third launch. In between it can only widen. */
#define TIMING_LOOK 3

/* Largest probability of missing the median that each look after the first adds.
 *
 * If launches are added until intervals are narrow, intervals miss more often than their level
 * says: each look is another chance that values lie close together beside the median (P. Armitage,
 * C. McPherson, B. Rowe, "Repeated significance tests on accumulating data", 1969). The allowed
 * probability of a miss is therefore spent look by look (K. Lan, D. DeMets, "Discrete sequential
 * boundaries for clinical trials", 1983). The first look spends all that six launches leave; each
 * later look adds at most TIMING_ADDED_MISS. At 9, 12, 15 and 18 launches the interval is one value
 * wider on each side than 95 % needs, and misses with probability 0.4, 0.6, 0.7 and 0.8 %. For any
 * distribution and any stop up to 20 launches, a miss has at most the sum, 6.8 %. Most campaigns
 * stop at one of the first two looks; simulated noise is missed in 1 to 4 % (test_coverage). */
#define TIMING_ADDED_MISS 0.015

/* A launch that counts. images: images per step; NAN: unknown. */
struct timing {
    int block;
    double step_ms, images, comm_replay_ms;
};

/* Launches of one point; `values` is scratch for one number each. All is borrowed. `added`:
 * launches were added until intervals were narrow; false: their number was fixed in advance. */
struct timings {
    const struct timing *items;
    size_t n;
    double *values;
    bool added;
};

/* Returns the median of n values with its interval at TIMING_LEVEL. A single value has no
 * interval. */
struct interval timing_interval(const double *values, size_t n, bool added);

/* Returns the confidence level of an interval of n values, for a number fixed in advance. Below
 * TIMING_LEVEL if n is too small, NAN without values. */
double timing_level(size_t n, bool added);

/* Returns the median and interval of step_ms. */
struct interval timing_step_ms(const struct timings *own);

/* Returns the ratio of images per time of one point to another. Launches of one block ran under
 * similar conditions, so ratios are formed within blocks. The result is the median over the *n
 * blocks that both points have. */
struct interval timing_ratio(const struct timings *own, const struct timings *base, size_t *n);

/* Returns the share of communication that cost no time: (T_compute + T_comm - T_step) / T_comm
 * within blocks, median over *n blocks. T_compute is the step of the point without communication,
 * T_comm the launch's replay of communication alone. */
struct interval timing_overlap(const struct timings *own, const struct timings *alone, size_t *n);

/* Returns half the width of an interval, in per cent of its median; for a `share` in per cent of 1.
 * NAN if there are too few launches for TIMING_LEVEL. */
double timing_half_width_pct(const struct interval *i, bool share);

/* Returns the half width (%) that a look at n launches requires: precision_pct, below 15 launches n
 * / 15 of it.
 *
 * Six values that lie close together by chance look precise, more so the wider they scatter, and
 * often lie on one side of the median. With one limit for every look, only 77 % of the intervals
 * that stop at 6 would hold the median if noise is 1.6 times the precision.
 *
 * No rule prevents this with too few launches. The median of n launches with standard deviation s
 * scatters by 1.25 s / sqrt(n). An interval called precise reaches no further than the precision d.
 * So it holds with probability P(|Z| <= 0.8 sqrt(n) d / s) at most, Z normal, however it was
 * chosen. With 20 launches this is 97 % at s = 1.6 d, and 89 % at 2.3 d: a ratio of two points that
 * scatter by 1.6 d each. Precise points can only be rare there: 1.6 % of all with this rule, 14 %
 * with 95 % intervals. With 36 launches, 94 % of them hold. */
double timing_asked_pct(double precision_pct, size_t n);
