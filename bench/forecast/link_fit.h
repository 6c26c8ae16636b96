/* Fits the coefficients of a link to step times. The model of each step time is a linear
 * approximation near given coefficients. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

enum { LINK_ALPHA, LINK_BETA, LINK_GAMMA, LINK_COEFFICIENTS };

struct link_sample {
    /* predicted step time (ms) = rest_ms + sum of slopes[k] * coefficient k. Coefficients are
     * multiples of their assumed values. */
    double rest_ms, slopes[LINK_COEFFICIENTS];
    double measured_ms; /* measured step time, above 0 */
    bool left_out;
};

/* Finds the coefficients >= 0 with the smallest sum of absolute relative errors, by iteratively
 * reweighted least squares. Ignores samples with left_out. `fitted`: start values on entry. A
 * coefficient without influence keeps its value. Returns false, with `fitted` unchanged, if at most
 * LINK_COEFFICIENTS samples remain. */
bool link_fit(double fitted[LINK_COEFFICIENTS], const struct link_sample *samples, size_t n);
