/* Predicts the step time of measured points as compute time plus message time (comm/cost/sweep.h),
 * to validate the model. The link's alpha, beta and gamma are fitted to the step times of a run's
 * points on the link. For cross-validation, the fit is repeated without points that share the
 * predicted point's strategy, network or number of ranks (left_outs.def). */
#pragma once

#include <stdio.h>

#include "bench/collect/collect.h"
#include "bench/forecast/link_fit.h"

enum left_out {
#define LEFT_OUT(name, column, title) LEFT_OUT_##name,
#include "bench/forecast/left_outs.def"
    LEFT_OUTS
};

/* A link of a run, fitted to all points of the run that use it. */
struct fitted_link {
    const char *run, *name;
    bool bursts; /* whether the link is emulated and sends a step's gradients in one burst */
    size_t n;    /* number of the run's validated points that use the link */
    /* fitted coefficients, as multiples of the assumed coefficients; NAN: too few points */
    double fitted[LINK_COEFFICIENTS];
    /* standard errors of `fitted` by the jackknife over strategies; NAN: too few strategies */
    double error[LINK_COEFFICIENTS];
};

struct validated_point {
    const struct point_summary *p;
    size_t link;
    double compute_ms, measured_ms;
    /* predicted step times (ms). assumed_ms: with the assumed coefficients; without_ms[k]: with
     * coefficients fitted without the points that kind k (enum left_out) leaves out; NAN: too few
     * points */
    double assumed_ms, without_ms[LEFT_OUTS];
};

struct validated_run {
    char name[64];
    struct spec spec;
    struct summary s;
};

struct cross_validation {
    struct validated_run *runs;
    struct validated_point *points;
    struct link_sample *samples; /* [n_points] step time of each point as a linear function of the
                                    link's coefficients */
    struct fitted_link *links;
    size_t n_runs, n_points, n_links;
};

/* Reads the runs in `folders` and predicts their points. Leaves out points that the model does not
 * cover, such as points with overlap or shared cores. Call cross_validation_free in any case. */
enum status cross_validation_make(struct cross_validation *c, const char *const *folders, size_t n,
                                  struct error *e);
void cross_validation_free(struct cross_validation *c);

typedef void cross_validation_writer(FILE *out, const struct cross_validation *c);
cross_validation_writer cross_validation_write_text, cross_validation_write_csv,
    cross_validation_write_links;
