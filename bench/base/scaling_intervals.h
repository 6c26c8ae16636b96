/* Confidence intervals of fitted laws of speed-up, by resampling blocks of launches. */
#pragma once

#include "bench/base/scaling_laws.h"
#include "kernels/base/error.h"
#include "kernels/base/stats.h"

/* Speed-up of a point over the base in one block of launches. */
struct scaling_pair {
    double ratio;
    int block;
};

/* Point of a curve. `speedup`: median of the ratios in `pairs`. `pairs` [n]: one ratio per block of
 * launches; borrowed. */
struct scaling_sample {
    double p, speedup;
    struct scaling_pair *pairs;
    size_t n;
};

struct scaling_intervals {
    struct interval sigma, kappa, limit, limit_p;
    double residual;
};

/* Fits a law to a curve of n points, with 95 % intervals of the parameters. lo and hi are NAN if a
 * point has too few pairs for a 95 % interval of its median.
 *
 * The intervals are percentiles of the fits to 999 resamples (Efron and Tibshirani, "An
 * introduction to the bootstrap", 1993). A resample draws as many blocks as there are, with
 * replacement. All points share the draw, since all ratios of a block share the base's launch. The
 * draws depend only on the number of blocks. If the interval of kappa contains 0, the upper bound
 * of the limit is at least 1 / lower bound of sigma, the limit without kappa.
 *
 * Sorts the pairs. Errors: ERR_MEMORY. */
enum status scaling_intervals(struct scaling_intervals *fitted, enum scaling_law law,
                              const struct scaling_sample *curve, size_t n, struct error *e);
