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

/* Law parameters: sigma (0 to 1) and kappa (at least 0; NAN if the law has no kappa). `limit`:
 * largest speed-up; INFINITY: unbounded. limit_p: number of processors at the limit, relative to
 * the base; INFINITY if the law only approaches the limit. `residual`: root mean square of
 * ln(measured / law). */
struct scaling_fit {
    double sigma, kappa, limit, limit_p, residual;
};

/* Fits a law to n points by least squares in ln(speedup), so that relative differences count alike
 * at all p. All numbers are NAN if n is less than the number of parameters, or if a point has p <=
 * 1, speedup <= 0 or a member that is not finite. */
struct scaling_fit scaling_fit(enum scaling_law law, const struct scaling_point *points, size_t n);

/* Returns a fitted law's speed-up over the base on p times the base's processors. */
double scaling_speedup(enum scaling_law law, const struct scaling_fit *fit, double p);
