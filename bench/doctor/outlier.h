/* Finds slow cores or links by comparison with the other members of their group. Uses only numbers
 * measured in rounds, no files or clocks. Every round measures all members, so a slow moment
 * affects all alike. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "kernels/base/error.h"
#include "kernels/base/stats.h"

/* Confidence level of each ratio's interval. With 11 rounds, the bounds are the second smallest and
 * second largest ratio, so one outlier on either side has no effect. */
#define OUTLIER_LEVEL 0.98

/* One quantity of n members (cores or links), measured in rounds, and the ratio of each member to
 * the others. */
struct measured {
    double *x; /* [n][rounds] measured values; NAN: missing */
    size_t n, rounds;
    struct interval *ratios; /* [n] each member's ratio to the median of the others; set by
                                measured_compare */
};

/* Allocates the values of n members (cores or links), initially NAN. Call measured_free afterwards,
 * even after an error. */
enum status measured_open(struct measured *m, size_t n, size_t rounds, struct error *e);
void measured_free(struct measured *m);
/* Sets ratios[i] of every member i: median and interval, over rounds, of the ratio (value of i) /
 * (median of the others). Compares only members with equal numbers in `peers`; NULL: all. Leaves
 * out rounds in which i or all others lack a value; NAN if no round is left. ERR_MEMORY. */
enum status measured_compare(struct measured *m, const int *peers, struct error *e);
/* Returns the median over rounds of the values of member i (a core or link), with its interval; NAN
 * if the member has no value. */
struct interval measured_interval(const struct measured *m, size_t i);

/* Verdict from the interval of a member's ratio to the others. A ratio is slow if it is above 1 +
 * margin for times (more_is_slower), or below 1 - margin for rates. SLOW: the whole interval is
 * slow. FINE: no part is slow. OPEN: only a part is slow. UNKNOWN: no interval, or an interval
 * whose confidence is below OUTLIER_LEVEL. */
enum outlier { OUTLIER_UNKNOWN, OUTLIER_FINE, OUTLIER_OPEN, OUTLIER_SLOW };
enum outlier outlier_judge(const struct interval *ratio, double margin, bool more_is_slower);

/* Cause of a slow direction (ordered pair of nodes): its sender, its receiver, or the pair itself.
 * outlier_blame decides. BLAME_NOTHING: the direction is not slow. */
enum blame { BLAME_NOTHING, BLAME_SENDER, BLAME_RECEIVER, BLAME_PAIR };
struct direction {
    int from, to;
    bool slow;
    enum blame blame; /* cause if the direction `from` to `to` (an ordered pair of nodes) is slow;
                         set by outlier_blame */
};
/* Sets the cause of each slow direction, and BLAME_NOTHING for all others. Repeatedly blames the
 * sender or receiver that has the largest share of slow, unexplained directions among its own
 * directions; at equal shares, a sender. Blames it only if at least two, and more than half, of its
 * directions are slow and unexplained. Slow directions that remain unexplained get BLAME_PAIR.
 * Errors: ERR_MEMORY. */
enum status outlier_blame(struct direction *directions, size_t n, int nodes, struct error *e);
