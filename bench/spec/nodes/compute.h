/* Decides which points compute and which replay measured compute times. Derives the calibration
 * points that measure these times. */
#pragma once

#include "bench/spec/matrix.h"
#include "bench/spec/spec.h"
#include "kernels/base/error.h"

/* If compute.cores is not given and some point may replay, sets compute.cores to the machine's
 * usable cores. Call it before expansion. The recorded spec keeps the number. */
enum status compute_resolve(struct spec *spec, const struct spec_machine *machine, struct error *e);

/* Replaces compute = auto of a point, or unset `compute` of a simulated point, by real or replay. A
 * point that does not replay gets the defaults of compute.rate and compute.cores. */
enum status compute_resolve_point(struct config *config, const struct spec *spec, struct error *e);

/* Resolves `compute` of a baseline point, which is a copy of a point of matrix `of` with the values
 * of `baseline`. If `baseline` does not set `compute`, and the copied value replay came from
 * compute = auto, auto is resolved again for the ranks of the baseline point. */
enum status compute_resolve_base(struct config *config, const struct selection *baseline,
                                 const struct spec *spec, const struct matrix *of, struct error *e);

/* Returns whether the point replays timings of a calibration point. */
bool compute_is_calibrated(const struct config *config);

/* Returns whether calibration points ignore an option, such as sync.*, because it does not change
 * the compute time of a rank. `on_hosts`: points have emulated or simulated hosts, so site options
 * are ignored, too. */
bool compute_leaves_out(const struct spec_option *option, bool on_hosts);

/* Turns the config of a replayed point into the config of its calibration point. The calibration
 * point has the largest micro-batch of a rank and sends no messages. It has the ranks of one node,
 * limited so that each rank has its own cores. */
enum status compute_calibrate(struct config *config, const struct spec *spec, struct error *e);
