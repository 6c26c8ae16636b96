/* Compares runs with a reference, point by point: which points became faster or slower, by how
 * much, and which are undecided.
 *
 * Points are matched by id (hash of options) and case, else by id, else by label. Other versions of
 * the program give the same labels. A run and its repetitions (repeats.h) form one side of the
 * comparison; ratios then compare means over campaigns. Times are converted to the clock rate of
 * the reference (compared.def) if both sides ran on the same hardware and each launch recorded the
 * time of a fixed computation.
 *
 * Between runs, the requested level is the joint confidence level of all n ratios: each interval
 * has the level 1 - (1 - level) / n (Bonferroni). Against published numbers, which are exact, each
 * interval has the requested level: a joint level of 95 % for sixteen ratios would need ten
 * launches per point instead of six. Verdicts are based on these intervals. */
#pragma once

#include <stdbool.h>

#include "bench/compare/judge.h"
#include "bench/compare/side.h"

struct compare_request {
    const char *const *operands; /* runs or published numbers, the reference first */
    size_t n_operands;
    const char *out, *home; /* `out`: folder of results; `home`: folder that contains configs/ */
    /* options as the user typed them; NULL: default */
    const char *quantity, *margin, *level, *floor;
    bool count_disturbed; /* give verdicts even if most launches were disturbed */
    bool as_measured;     /* do not convert times to the reference's clock rate */
};

struct compare_cell {
    struct side_point *point; /* point of the run that matches the reference's point; NULL: none */
    bool by_label;
    struct judged judged;
};

struct comparison {
    struct judge_rules rules; /* rules for each ratio; refers to `floor` below */
    double level;             /* confidence level that the user asked for */
    bool joint;               /* `level` holds for all ratios together, not for each ratio */
    struct noise_floor floor;
    struct side *sides; /* [n_sides] the reference, then the runs compared with it */
    size_t n_sides;
    struct compare_cell *cells; /* [points of the reference, n_sides - 1] one cell per pair of point
                                   and run */
    size_t n_ratios;
    size_t verdicts[VERDICT_UNDECIDED + 1]; /* [verdict] number of pairs of point and run with this
                                               verdict */
    size_t lost;     /* number of matched pairs of point and run that have a value in the reference
                        only */
    size_t failed;   /* number of pairs of point and run counted in `lost` because the point failed
                        in the run */
    size_t by_label; /* number of pairs of point and run that were matched by label instead of id */
    bool at_clock;   /* times are converted to the reference's clock rate */
    /* reason why values cannot be converted to the reference's clock rate; "": they can, or they
     * need no conversion (request->as_measured is set, or the quantity is CLOCK_FREE) */
    char as_measured[160];
};

/* Compares the other operands with the first operand, the reference. Errors: ERR_ARGUMENT or
 * ERR_DATA for a wrong option or operand; ERR_UNAVAILABLE if no point has a value in the reference
 * and in another operand. Call compare_free in any case. */
enum status compare_run(struct comparison *c, const struct compare_request *request,
                        struct error *e);
void compare_free(struct comparison *c);

/* Matches the points of all sides with the reference's points, by identity or label, and sets
 * c->cells. Internal. Errors: ERR_MEMORY. */
enum status compare_match(struct comparison *c, struct error *e);

/* Returns whether the reference has values of the point, but the matching point of `side` has
 * none. */
bool compare_is_lost(const struct comparison *c, size_t point, size_t side);
/* Returns whether compare_is_lost is true and the matching point of `side` failed. */
bool compare_is_failed(const struct comparison *c, size_t point, size_t side);

static inline const struct compare_cell *compare_cell(const struct comparison *c, size_t point,
                                                      size_t side)
{
    return &c->cells[point * (c->n_sides - 1) + side - 1];
}

/* Returns the exit status for `git bisect run`. 1: a point became slower or worse. Else 125 (skip
 * the commit): a point of the reference is undecided, missing or without a value in a run, or no
 * point has a verdict. Else 0. */
int compare_bisect(const struct comparison *c);
/* Returns the exit status for an error: 125 if there is nothing to compare, else 128, which ends
 * git bisect. */
int compare_bisect_error(enum status status);

/* Returns whether point i of the side matches no point of the reference. */
bool compare_is_unmatched(const struct comparison *c, size_t i, size_t side);

/* Returns the label of a point; its identity if the tables have no label. */
const char *compare_label(const struct side_point *p);
