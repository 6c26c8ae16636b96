/* Laws of speed-up (scaling_laws.def), fitted to measured speed-ups. */
#pragma once

#include <stddef.h>

enum scaling_law {
#define LAW(name, ...) LAW_##name,
#include "bench/base/scaling_laws.def"
    LAWS
};

/* `p`: processors relative to the base, above 1. `speedup`: measured speed-up over the base. */
struct scaling_point {
    double p, speedup;
};

/* sigma in [0, 1]; kappa >= 0, NAN if the law has none. `limit`: largest speed-up, INFINITY if
 * unbounded. limit_p: p at the limit, INFINITY if the law only approaches it. `residual`: root mean
 * square of ln(measured / law). */
struct scaling_fit {
    double sigma, kappa, limit, limit_p, residual;
};

/* Fits a law to n points by least squares of the logarithms of the speed-ups, so that relative
 * differences count alike at all p. All numbers are NAN if n is less than the number of parameters,
 * or a point has p <= 1, speedup <= 0, or a member that is not finite. */
struct scaling_fit scaling_fit(enum scaling_law law, const struct scaling_point *points, size_t n);

/* Returns the speed-up of a fitted law on p processors. */
double scaling_speedup(enum scaling_law law, const struct scaling_fit *fit, double p);
