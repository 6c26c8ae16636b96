/* Times of training steps without communication: the parts of a typical step, and the time of each
 * measured step as a multiple of the typical step's time. */
#pragma once

#include <stddef.h>

#include "bench/collect/collect.h"
#include "bench/spec/spec.h"

struct step_times {
    /* times of a typical step (s): reading the batch, forward pass with loss, reading plus forward
     * plus backward, update of the weights */
    double load_s, forward_s, compute_s, optimizer_s;
    double *ready_s; /* [tensors] time from the step's start until each gradient is computed */
    /* [n_paces] measured step times of all ranks, divided by the time of the typical step; a single
     * 1 without a calibration launch */
    double *paces;
    size_t n_paces;
    double mean_pace;
    char from[128]; /* source of the times: calibration launch, calibration point or compute.rate */
};

/* Mean times of the parts of a step (s). */
struct step_parts {
    double load_s, forward_s, backward_s, optimizer_s;
    char from[128]; /* source of the times: calibration point, or compute.rate */
};

/* Reads the point's step times from `calibration`, the folder of a calibration launch, and copies
 * that launch's facts to `result`. If `calibration` is NULL, takes the times from `parts` and
 * divides backward among the layers by their FLOPs. If `parts` is NULL too, computes the times from
 * compute.rate; ERR_ARGUMENT if it is 0. Other errors as calibration_read. Call step_times_free in
 * any case. */
enum status step_times_open(struct step_times *t, const struct point *point,
                            const char *calibration, const struct step_parts *parts,
                            struct launch_result *result, struct error *e);
void step_times_free(struct step_times *t);
