/* What is reported of a point's timed launches with an interval, from the few numbers of each that
 * stand in the journal, and how narrow an interval must be. The summary and the rule that ends a
 * campaign both call these: what is reported is what was looked at. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "kernels/base/stats.h"

/* Of every interval. */
#define TIMING_LEVEL 0.95

/* Launches between two looks of the rule that ends a campaign, the first being at twice as many. The
 * exact interval covers with 95 % from 6 launches on, least to greatest until 9, where it leaves
 * out one on either side, and so on every third: at 7, 8, 10, 11 it can only widen. */
#define TIMING_LOOK 3

/* One launch that counts; images are those of a step, NAN is unknown. */
struct timing {
    int block;
    double step_ms, images, comm_replay_ms;
};

/* The launches of one point; `values` is room for a number of each. All is borrowed. */
struct timings {
    const struct timing *items;
    size_t n;
    double *values;
};

/* The median of n values with its interval of TIMING_LEVEL; a single one has none. */
struct interval timing_interval(const double *values, size_t n);

/* The confidence that this interval really has, below TIMING_LEVEL where n is too small; NAN where there
 * is none. */
double timing_level(size_t n);

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

/* What a look at n launches asks of that: the precision that is wanted, below 18 launches n / 18 of
 * it. Six values that happen to lie close together look precise, the more so by chance the wider
 * they scatter, and lie on one side of the median as often. With the same asked at every look,
 * precision being 5 % and noise 8 %, 77 % of the intervals of points that stop at 6 hold the median,
 * 94 % of all and 91 % of all that end as precise; as it is, 95 and 93 %, and more where there is
 * less noise (test_coverage). Where noise exceeds 1.6 times the precision no rule can do that with
 * 20 launches: their median itself is off by more than the precision too often, and what looks
 * precise does so by chance. */
double timing_asked_pct(double precision_pct, size_t n);
