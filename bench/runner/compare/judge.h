/* The verdict on one point of two campaigns: the ratio of what their launches took, its interval, and
 * whether all of that lies beyond the margin, within it or neither. Internal to
 * bench/runner/compare.
 *
 * Launches of two campaigns are independent samples. Of the logarithms the ratio and the interval are
 * Hodges and Lehmann's shift (kernels/base/two_samples.h). What changes between campaigns is not in
 * it: the noise floor, the half-width within which logarithms of two campaigns of one thing differ, is
 * what it is widened to on both sides, where it is narrower. A floor of repetitions (floor.h) holds the
 * scatter of usual launches; where those of a point scatter more, its own interval is the wider one. */
#pragma once

#include <stdbool.h>

#include "bench/runner/compare/compared.h"

enum verdict { VERDICT_NONE, VERDICT_SAME, VERDICT_GOOD, VERDICT_BAD, VERDICT_UNDECIDED };

struct judge_rules {
    const struct compared *what;
    double margin; /* 0.02 */
    double level;  /* of each ratio, corrected for how many there are */
    double floor;  /* half a width, of logarithms */
};

struct judge_sample {
    const double *values;
    size_t n;
    bool exact; /* the only value is known without error */
};

struct judged {
    double reference, median; /* medians of both */
    struct interval launches; /* ratio to the reference, by the launches alone */
    struct interval ratio;    /* the same interval with the floor */
    size_t reference_n, n;    /* launches */
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
