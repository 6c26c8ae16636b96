/* What is reported of a point's timed launches with an interval, from the few numbers of each that
 * stand in the journal, and how narrow an interval must be. The summary and the rule that ends a
 * campaign both call these: what is reported is what was looked at. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "kernels/base/stats.h"

/* That every interval holds with. */
#define TIMING_LEVEL 0.95

/* Launches between two looks of the rule that ends a campaign, the first being at twice as many. The
 * exact interval covers with 95 % from 6 launches on, least to greatest until 9, where it can leave
 * out one on either side, and so on every third: at 7, 8, 10, 11 it can only widen. */
#define TIMING_LOOK 3

/* Launches that are added until intervals are narrow are more often too few than their number says: each
 * look is another chance that values lie close together beside the median (P. Armitage, C. McPherson,
 * B. Rowe, "Repeated significance tests on accumulating data", 1969). What a campaign may miss by
 * is therefore spent look by look, as K. Lan and D. DeMets do ("Discrete sequential boundaries for
 * clinical trials", 1983): all that six launches leave at the first, TIMING_ADDED_MISS at most at each later
 * one. At 9, 12, 15, 18 launches the interval is one value wider on either side than 95 % takes, and
 * misses with 0.4, 0.6, 0.7, 0.8 %: whatever the distribution and wherever it stops up to 20
 * launches, it misses with no more than the sum, 6.8 %; what a campaign stops at is mostly one of the
 * first two, and simulated noise is missed by 1 to 4 % (test_coverage). */
#define TIMING_ADDED_MISS 0.015

/* One launch that counts; images are those of a step, NAN is unknown. */
struct timing {
    int block;
    double step_ms, images, comm_replay_ms;
};

/* The launches of one point; `values` is room for a number of each. All is borrowed. `added`: they are
 * added until intervals are narrow, and not as many as was said before. */
struct timings {
    const struct timing *items;
    size_t n;
    double *values;
    bool added;
};

/* The median of n values with its interval of TIMING_LEVEL; a single one has none. */
struct interval timing_interval(const double *values, size_t n, bool added);

/* The confidence that this interval of so many values has, had their number been said before; below
 * TIMING_LEVEL where n is too small, NAN where there is none. */
double timing_level(size_t n, bool added);

struct interval timing_step_ms(const struct timings *own);

/* Images per time of one point over those of another: launches of one block ran under like
 * conditions, so ratios are formed within blocks, and the median and its interval are those of the
 * blocks that both have, *n of them. */
struct interval timing_ratio(const struct timings *own, const struct timings *base, size_t *n);

/* What part of communication cost no time: (T_compute + T_comm - T_step) / T_comm, within blocks,
 * T_compute being the step of those that do not communicate, T_comm the replay of the launch. */
struct interval timing_overlap(const struct timings *own, const struct timings *alone, size_t *n);

/* Half the width in per cent of the median; of a share, which is in proportion to something already, in
 * per cent of 1. NAN where launches are too few for TIMING_LEVEL. */
double timing_half_width_pct(const struct interval *i, bool share);

/* What a look at n launches asks of that: the precision that is wanted, below 15 launches n / 15 of
 * it. Six values that happen to lie close together look precise, the more so by chance the wider
 * they scatter, and lie on one side of the median as often: with the same asked at every look 77 %
 * of the intervals of points that stop at 6 would hold the median where noise is 1.6 times the
 * precision.
 *
 * No rule can keep that from happening where launches are too few. The median of n of them scatters
 * by 1.25 s / sqrt(n), s being their spread, and an interval that is called precise reaches no
 * further than the precision d: it holds with at most P(|Z| <= 0.8 sqrt(n) d / s), Z normal, however
 * it was chosen. With 20 launches that is 97 % at s = 1.6 d and 89 % at 2.3 d, which the ratio of
 * two points has whose launches scatter by 1.6 d each. There precise points can only be rare: 1.6 % of
 * all as it is, 14 % with intervals of 95 %; with 36 launches 94 % of them hold. */
double timing_asked_pct(double precision_pct, size_t n);
