/* Decides whether a point became faster or slower. Computes the ratio of the launches of two sides,
 * its interval and the verdict. A side is one campaign or several repetitions of it. Internal to
 * bench/compare.
 *
 * All computation is on logarithms. The ratio of two campaigns and its interval are Hodges and
 * Lehmann's shift (bench/base/two_samples.h). If a side has several campaigns, the launches of each
 * are shifted to the mean location of the side's campaigns (aligned ranks: Hodges and Lehmann,
 * "Rank methods for combination of independent experiments", 1962). The ratio then compares means
 * of campaigns. Each launch's distance from its campaign's location is also scaled by sqrt(n / (n -
 * 1)), because the location was estimated from the same n launches.
 *
 * The noise floor f (floor.h) adds the variation between campaigns. It widens the interval [lo, hi]
 * of a logarithmic ratio mid to [mid - sqrt((mid - lo)^2 + f^2), mid + sqrt((hi - mid)^2 + f^2)].
 * The formula is from Zou and Donner, "Construction of confidence limits about effect measures: a
 * general approach", 2008.
 *
 * A point is the same if the whole interval lies within the margin (Schuirmann's two one-sided
 * tests, 1987). It is slower or faster if the whole interval lies on one side of 1 and the ratio
 * itself beyond the margin. The confidence level then applies to the existence of a difference, not
 * to its size.
 *
 * A point is undecided if more than half of a side's launches were disturbed (column disturbed of
 * raw.csv), since the median then includes the disturbance. This rule does not apply to quantities
 * that do not depend on other programs (`spread` 0 in compared.def), nor to any quantity if
 * count_disturbed is set. */
#pragma once

#include <stdbool.h>

#include "bench/compare/compared.h"
#include "bench/compare/floor.h"

enum verdict { VERDICT_NONE, VERDICT_SAME, VERDICT_GOOD, VERDICT_BAD, VERDICT_UNDECIDED };

struct judge_rules {
    const struct compared *what;
    double margin; /* relative difference up to which points are the same, such as 0.05 */
    double level;  /* confidence level of each ratio's interval; Bonferroni-corrected for the number
                      of ratios, except in comparisons with published values */
    const struct noise_floor *floor;
    bool count_disturbed; /* treat disturbed launches like undisturbed ones */
};

/* Launches of a point in one campaign. */
struct judge_launches {
    const double *values;
    size_t n, disturbed;
};

struct judge_sample {
    const struct judge_launches *campaigns;
    size_t n;    /* number of elements of `campaigns`; elements without launches are skipped */
    bool exact;  /* the sample is one value without error, such as a published number */
    bool steady; /* whether the launches are simulated; repetitions then give equal values, so this
                    side does not widen the interval by the noise floor */
};

struct judged {
    /* medians of the launches of both sides; with several campaigns, the geometric mean of the
     * campaigns' medians */
    double reference, median;
    struct interval launches; /* ratio to the reference; its interval is not widened by the noise
                                 floor */
    struct interval ratio;    /* ratio to the reference; its interval is widened by the noise
                                 floor */
    double floor;             /* half width of the noise floor, in logarithms */
    size_t reference_n, n;    /* number of launches of each side */
    size_t reference_disturbed, disturbed; /* number of disturbed launches of each side */
    size_t reference_campaigns, campaigns; /* number of campaigns of each side that have launches */
    enum verdict verdict;
    char reason[160]; /* reason for VERDICT_UNDECIDED or VERDICT_NONE, otherwise ""; also "" for a
                         point of a run compared with itself */
};

/* Computes the ratio of two samples of a point and decides the verdict. If there is no ratio, the
 * verdict is VERDICT_NONE with a reason. Errors: ERR_MEMORY. */
enum status judge(struct judged *j, const struct judge_rules *rules,
                  const struct judge_sample *reference, const struct judge_sample *sample,
                  struct error *e);

/* Sets the result for a point of a run compared with itself: ratio 1 and VERDICT_SAME, or
 * VERDICT_NONE if `sample` has no launches. */
void judge_itself(struct judged *j, const struct judge_sample *sample);

/* Returns the verdict as text, such as "faster" or "same"; "-" for VERDICT_NONE. */
const char *verdict_name(enum verdict verdict, const struct compared *what);
