/* The verdict on one point of two sides: the ratio of what their launches took, its interval, and what
 * that says. A side is a campaign or several that repeat each other. Internal to bench/compare.
 *
 * All is done on logarithms. Launches of two campaigns are independent samples, whose ratio and interval
 * are Hodges and Lehmann's shift (bench/base/two_samples.h). Those of several campaigns of a side are
 * first moved together, each campaign to the mean of where all of them lie (aligned ranks: Hodges and
 * Lehmann, "Rank methods for combination of independent experiments", 1962), which makes the ratio that of
 * the means of campaigns; their distances from there grow by sqrt(n / (n - 1)), since they are distances
 * from where those n launches themselves lie.
 *
 * What changes between campaigns is not in that interval. By the noise floor f (floor.h) the ends lo and hi
 * about mid move to mid - sqrt((mid - lo)^2 + f^2) and mid + sqrt((hi - mid)^2 + f^2): limits of a sum of two
 * independent quantities from the limits of each (Zou and Donner, "Construction of confidence limits about
 * effect measures: a general approach", 2008).
 *
 * A point is the same when all of the interval lies within the margin (Schuirmann's two one-sided tests,
 * 1987). It is slower, or faster, when all of the interval lies on that side of 1 and the ratio itself beyond
 * the margin: that there is a difference is certain at the level, that it is of a size that matters is the
 * best guess.
 *
 * Where more than half of the launches of a side were disturbed (column disturbed of raw.csv: by others on its
 * processors, for the most part), a median no longer leaves that out: it makes a side slower, and what it is compared
 * with faster or the same. So no verdict stands there, not "same" either, be the interval what it is; the point is
 * undecided. A neighbour then fails no build, and passes none where undecided fails (--strict).
 * Quantities that do not depend on who else computes (no `spread` in compared.def) are judged as ever. */
#pragma once

#include <stdbool.h>

#include "bench/compare/compared.h"
#include "bench/compare/floor.h"

enum verdict { VERDICT_NONE, VERDICT_SAME, VERDICT_GOOD, VERDICT_BAD, VERDICT_UNDECIDED };

struct judge_rules {
    const struct compared *what;
    double margin; /* 0.05 */
    double level;  /* of each ratio, corrected for how many there are */
    const struct noise_floor *floor;
    bool count_disturbed; /* as other launches */
};

/* What one campaign says of a point. */
struct judge_launches {
    const double *values;
    size_t n, disturbed;
};

struct judge_sample {
    const struct judge_launches *campaigns;
    size_t n;   /* campaigns; those without launches do not count */
    bool exact; /* the only value is known without error */
};

struct judged {
    double reference, median;              /* medians, of campaigns their geometric mean */
    struct interval launches;              /* ratio to the reference, by the launches alone */
    struct interval ratio;                 /* the same interval with the floor */
    double floor;                          /* half a width, of logarithms */
    size_t reference_n, n;                 /* launches */
    size_t reference_disturbed, disturbed; /* of them */
    size_t reference_campaigns, campaigns; /* with launches */
    enum verdict verdict;
    char reason[160]; /* of UNDECIDED and NONE */
};

enum status judge(struct judged *j, const struct judge_rules *rules,
                  const struct judge_sample *reference, const struct judge_sample *sample,
                  struct error *e);

/* Of launches against themselves. */
void judge_itself(struct judged *j, const struct judge_sample *sample);

/* "faster", "same" ...; "-" of VERDICT_NONE. */
const char *verdict_name(enum verdict verdict, const struct compared *what);
