/* Which of several like things is slow, told by the others: pure functions of numbers that were measured in
 * rounds, each of which met all of them, so that a moment that was slow hits all alike. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "kernels/base/error.h"
#include "kernels/base/stats.h"

/* Confidence of each ratio's interval: of 11 rounds the second least and the second largest, so that one bad
 * round on either side has no say; of fewer the least and the largest. */
#define OUTLIER_LEVEL 0.98

/* Numbers of like things in rounds, and what each has over the others. */
struct measured {
    double *x; /* [n][rounds]; NAN where a round lacks one */
    size_t n, rounds;
    struct interval *ratios; /* [n], once they are compared */
};

/* All numbers unknown. Freed with measured_free in any case. */
enum status measured_open(struct measured *m, size_t n, size_t rounds, struct error *e);
void measured_free(struct measured *m);
/* ratios[i]: in each round what i has over the median of the others, `peers` telling who is of its kind (NULL: all are);
 * then the median of the rounds with its interval. A round in which i or all others have no number is left out. NAN where
 * nobody is left to compare with. ERR_MEMORY. */
enum status measured_compare(struct measured *m, const int *peers, struct error *e);
/* The median of one over the rounds that have it, with its interval; NAN where none has. */
struct interval measured_interval(const struct measured *m, size_t i);

/* What a ratio says of something whose rate should be 1, or whose time where `more_is_slower`: it is slow where its
 * whole interval lies beyond the margin, fine where its whole interval lies within. A loss of 10 % is told with
 * a margin of 5 %, as far from one error as from the other. */
enum outlier { OUTLIER_UNKNOWN, OUTLIER_FINE, OUTLIER_OPEN, OUTLIER_SLOW };
enum outlier outlier_judge(const struct interval *ratio, double margin, bool more_is_slower);

/* Who is to blame for slow directions of pairs: a node that most of what it sends (receives) is slow of,
 * two at least, or the pair itself. */
enum blame { BLAME_NOTHING, BLAME_SENDER, BLAME_RECEIVER, BLAME_PAIR };
struct direction {
    int from, to;
    bool slow;
    enum blame blame; /* set by outlier_blame: of what is slow */
};
/* The side that explains the largest share of its directions goes first, a sender before a receiver; what it
 * explains blames nobody else. ERR_MEMORY. */
enum status outlier_blame(struct direction *directions, size_t n, int nodes, struct error *e);
