/* Finds slow cores or links by comparison with the other members of their group. The functions use
 * only numbers measured in rounds, no files or clocks. Every round measures all members, so that a
 * slow moment affects all of them alike. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "kernels/base/error.h"
#include "kernels/base/stats.h"

/* Confidence level of each ratio's interval. With 11 rounds the interval's bounds are the second
 * smallest and second largest ratio, so that one outlier on either side has no effect. With fewer
 * rounds the bounds are the smallest and largest ratio. */
#define OUTLIER_LEVEL 0.98

/* One quantity of n members (cores or links), measured in rounds, and the ratio of each member to
 * the others. */
struct measured {
    double *x; /* [n][rounds] measured values; NAN: missing */
    size_t n, rounds;
    struct interval *ratios; /* [n] each member's ratio to the median of the others; set by
                                measured_compare */
};

/* Allocates the values of n members, all unknown. Call measured_free afterwards, even after an
 * error. */
enum status measured_open(struct measured *m, size_t n, size_t rounds, struct error *e);
void measured_free(struct measured *m);
/* Computes ratios[i] for every member i. In each round, the value of i is divided by the median of
 * the other members. The ratio is the median of these quotients, with its interval. Only members
 * with equal numbers in `peers` are compared; NULL: all. Rounds in which i or all others lack a
 * value are left out. ratios[i] is NAN if no round is left. ERR_MEMORY. */
enum status measured_compare(struct measured *m, const int *peers, struct error *e);
/* Returns the median of member i's values over rounds, with its interval; NAN if the member has no
 * value. */
struct interval measured_interval(const struct measured *m, size_t i);

/* Verdict on a member by the interval of its ratio to the others. A ratio is slow above 1 + margin
 * for times (more_is_slower is true), below 1 - margin for rates. SLOW: all ratios in the interval
 * are slow. FINE: none is slow. OPEN: only a part is slow. UNKNOWN: the interval is missing or does
 * not reach OUTLIER_LEVEL. To detect a loss of 10 %, use a margin of 5 %. */
enum outlier { OUTLIER_UNKNOWN, OUTLIER_FINE, OUTLIER_OPEN, OUTLIER_SLOW };
enum outlier outlier_judge(const struct interval *ratio, double margin, bool more_is_slower);

/* Cause of a slow direction (ordered pair of nodes): the sender or the receiver, if at least two
 * and more than half of that node's directions in this role are slow; otherwise the pair. */
enum blame { BLAME_NOTHING, BLAME_SENDER, BLAME_RECEIVER, BLAME_PAIR };
struct direction {
    int from, to;
    bool slow;
    enum blame blame; /* cause of a slow direction, set by outlier_blame */
};
/* Sets the cause of each slow direction, and BLAME_NOTHING for all other directions. Repeatedly
 * blames the sender or receiver with the largest share of slow directions (at equal shares, a
 * sender). Slow directions that already have a cause are not counted again. Errors: ERR_MEMORY. */
enum status outlier_blame(struct direction *directions, size_t n, int nodes, struct error *e);
