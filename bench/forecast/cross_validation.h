/* Predicts measured points of runs by links fitted without them. A point's computing is calibrated:
 * it is the step of strategy none on as many ranks, else the parts of a calibration. Its messages
 * are predicted by comm/cost/sweep.h. Alpha, beta and gamma of a link are fitted to the other
 * points that a run has on it. No launch is started. */
#pragma once

#include <stdio.h>

#include "bench/collect/collect.h"
#include "bench/forecast/link_fit.h"

enum left_out {
#define LEFT_OUT(name, column, title) LEFT_OUT_##name,
#include "bench/forecast/left_outs.def"
    LEFT_OUTS
};

/* A link that points of a run have in common. */
struct fitted_link {
    const char *run, *name;
    bool bursts; /* gradients of the points fit the burst of an emulated link */
    size_t n;    /* number of points */
    /* coefficients, in units of the assumed ones; NAN: too few points */
    double fitted[LINK_COEFFICIENTS];
    double error
        [LINK_COEFFICIENTS]; /* standard errors by the jackknife over strategies; NAN: too few */
};

struct validated_point {
    const struct point_summary *p;
    size_t link;
    double compute_ms, measured_ms;
    double assumed_ms, without_ms[LEFT_OUTS]; /* predictions; NAN: too few points to fit */
};

struct validated_run {
    char name[64];
    struct spec spec;
    struct summary s;
};

struct cross_validation {
    struct validated_run *runs;
    struct validated_point *points;
    struct link_sample *samples; /* [n_points] */
    struct fitted_link *links;
    size_t n_runs, n_points, n_links;
};

/* Reads the runs in `folders` and predicts their points. Leaves out points whose ranks share cores,
 * hide communication behind computing, sleep, or sum other than exactly. Call cross_validation_free
 * in any case. */
enum status cross_validation_make(struct cross_validation *c, const char *const *folders, size_t n,
                                  struct error *e);
void cross_validation_free(struct cross_validation *c);

typedef void cross_validation_writer(FILE *out, const struct cross_validation *c);
cross_validation_writer cross_validation_write_text, cross_validation_write_csv,
    cross_validation_write_links;
