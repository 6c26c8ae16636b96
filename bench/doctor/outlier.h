/* Detection of slow members of a group by comparison with the others. Pure functions of numbers
 * measured in rounds. Every round measures all members, so that a slow moment affects all alike. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "kernels/base/error.h"
#include "kernels/base/stats.h"

/* Confidence level of each ratio's interval. With 11 rounds its bounds are the second smallest
 * and second largest ratio, so that one bad round on either side has no effect. With fewer
 * rounds they are the smallest and largest. */
#define OUTLIER_LEVEL 0.98

/* Numbers of n members in rounds, and the ratio of each member to the others. */
struct measured {
    double *x; /* [n][rounds]; NAN if missing in a round */
    size_t n, rounds;
    struct interval *ratios; /* [n], set by measured_compare */
};

/* Makes room for n members, all numbers unknown. Call measured_free afterwards, also after an
 * error. */
enum status measured_open(struct measured *m, size_t n, size_t rounds, struct error *e);
void measured_free(struct measured *m);
/* Computes ratios[i]: in each round the number of i over the median of the others, then the
 * median over rounds with its interval. Only members with equal `peers` are compared; NULL: all.
 * Rounds without a number of i or of any other are left out. NAN if there is nothing to compare
 * with. ERR_MEMORY. */
enum status measured_compare(struct measured *m, const int *peers, struct error *e);
/* Returns the median of a member over the rounds that have it, with its interval; NAN if none
 * has. */
struct interval measured_interval(const struct measured *m, size_t i);

/* Judges a ratio whose expected value is 1: slow if its whole interval lies beyond the margin,
 * fine if it lies within, else open. more_is_slower: the ratio is of times, so larger is slower;
 * otherwise it is of rates. The margin for detecting a loss of 10 % is 5 %, half-way to no loss. */
enum outlier { OUTLIER_UNKNOWN, OUTLIER_FINE, OUTLIER_OPEN, OUTLIER_SLOW };
enum outlier outlier_judge(const struct interval *ratio, double margin, bool more_is_slower);

/* Cause of slow directions: a sender or receiver with more than half of its directions slow, at
 * least two; else the pair itself. */
enum blame { BLAME_NOTHING, BLAME_SENDER, BLAME_RECEIVER, BLAME_PAIR };
struct direction {
    int from, to;
    bool slow;
    enum blame blame; /* set by outlier_blame for slow directions */
};
/* Sets the blame of all slow directions. The side with the largest share of slow directions
 * comes first, senders before receivers; the directions that it explains blame no other node.
 * ERR_MEMORY. */
enum status outlier_blame(struct direction *directions, size_t n, int nodes, struct error *e);
