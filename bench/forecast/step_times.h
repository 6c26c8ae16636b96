/* Times of training steps without communication: the parts of a typical step, and the pace of each
 * measured step relative to the typical step. */
#pragma once

#include <stddef.h>

#include "bench/collect/collect.h"
#include "bench/spec/spec.h"

struct step_times {
    /* times of a typical step (s): reading the batch, forward pass with loss, all compute up to the
     * end of backward, update of the weights */
    double load_s, forward_s, compute_s, optimizer_s;
    double *ready_s; /* [tensors] time from the step's start until each gradient is computed */
    /* [n_paces] times of the measured steps of all ranks, as multiples of the typical step's time;
     * without a calibration launch: a single 1 */
    double *paces;
    size_t n_paces;
    double mean_pace;
    char from[128]; /* source of the times: calibration launch or point, or compute.rate */
};

/* Mean times of the parts of a step (s). */
struct step_parts {
    double load_s, forward_s, backward_s, optimizer_s;
    char from[128]; /* source of the times: calibration point, or compute.rate */
};

/* Reads the times of the point from a calibration launch and copies that launch's facts to
 * `result`. If `calibration` is NULL, divides the times in `parts` among the layers by their FLOPs.
 * If `parts` is NULL too, computes the times from compute.rate. Errors as calibration_read;
 * ERR_ARGUMENT if there are neither measured times nor a compute.rate. Call step_times_free in any
 * case. */
enum status step_times_open(struct step_times *t, const struct point *point,
                            const char *calibration, const struct step_parts *parts,
                            struct launch_result *result, struct error *e);
void step_times_free(struct step_times *t);
