/* Runs against a reference, point by point: which became faster or slower, by how much, and what is
 * not known. Points are matched by identity (and case), else by label, which another version of the
 * program keeps. Repetitions of a run that lie beside it are one side with it: ratios are those of the means
 * of campaigns. Times are told at the clock of the reference (compared.def), where the hardware is the same
 * and the launches tell. Between runs all ratios hold together at the level asked for: each has the level
 * 1 - (1 - level) / their number (Bonferroni), so that interval and verdict say the same. Those to published
 * numbers have that level each: they describe, point by point. Six launches, which reach 96.9 %
 * of the median beside an exact number, decide them; together sixteen of them would want ten launches each. */
#pragma once

#include <stdbool.h>
#include <stdio.h>

#include "bench/compare/judge.h"
#include "bench/compare/side.h"

struct compare_request {
    const char *const *operands; /* the reference first */
    size_t n_operands;
    const char *out, *home;                        /* folder of all results; where configs/ is */
    const char *quantity, *margin, *level, *floor; /* as typed; NULL: usual */
    bool count_disturbed;                          /* verdicts also where most launches are */
    bool as_measured;                              /* times not at the reference's clock */
};

struct compare_cell {
    struct side_point *point; /* NULL: the run does not have it */
    bool by_label;
    struct judged judged;
};

struct comparison {
    struct judge_rules rules; /* of each ratio; by the floor below */
    double level;             /* as asked for */
    bool joint;               /* that of all ratios together */
    struct noise_floor floor;
    struct side *sides; /* the reference first */
    size_t n_sides;
    struct compare_cell *cells; /* [points of the reference, n_sides - 1] */
    size_t n_ratios;
    size_t verdicts[VERDICT_UNDECIDED + 1]; /* how often */
    size_t lost;     /* pairs of points of which the reference alone has values */
    size_t failed;   /* of these, pairs whose point failed in the run */
    size_t by_label; /* points that were matched so */
    bool
        at_clock; /* values are told at the clock of the reference: times by what the fixed piece of work took
                      beside their launches */
    char as_measured[160]; /* why they are not; "": asked for, or no matter of the clock */
};

/* ERR_ARGUMENT, ERR_DATA for operands that are no runs; ERR_UNAVAILABLE where no point can be compared.
 * Freed with compare_free in any case. */
enum status compare_run(struct comparison *c, const struct compare_request *request,
                        struct error *e);
void compare_free(struct comparison *c);

/* Whether of the pair the reference alone has values; of a pair. */
bool compare_is_lost(const struct comparison *c, size_t point, size_t side);
/* Whether, besides, the point failed in the run. */
bool compare_is_failed(const struct comparison *c, size_t point, size_t side);

static inline const struct compare_cell *compare_cell(const struct comparison *c, size_t point,
                                                      size_t side)
{
    return &c->cells[point * (c->n_sides - 1) + side - 1];
}

/* Whether the i-th point of the side is a point of the reference, too. */
bool compare_is_matched(const struct comparison *c, size_t side, size_t i);

/* What a point is called: its label, or its identity where it was never launched. */
const char *compare_label(const struct side_point *p);
