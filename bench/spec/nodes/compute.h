/* Decides which points compute and which replay measured compute times. Derives the calibration
 * points that measure these times. */
#pragma once

#include "bench/spec/matrix.h"
#include "bench/spec/spec.h"
#include "kernels/base/error.h"

/* If compute.cores is not given and some point may replay or be simulated, sets compute.cores to
 * the machine's usable cores. Call it before expansion. The recorded spec keeps the number. */
enum status compute_resolve(struct spec *spec, const struct spec_machine *machine, struct error *e);

/* Replaces compute = auto by real or replay. For a simulated point, sets compute = replay if
 * `compute` is not set or the spec is a recorded one. If the point does not replay, compute.rate
 * and compute.cores get their defaults. */
enum status compute_resolve_point(struct config *config, const struct spec *spec, struct error *e);

/* Resolves `compute` for a baseline point. `config` is a copy of a point in matrix `of`, changed by
 * the values of `baseline`. If the copied value is replay and can only result from compute = auto,
 * resolves auto again for the ranks of the baseline point. */
enum status compute_resolve_base(struct config *config, const struct selection *baseline,
                                 const struct spec *spec, const struct matrix *of, struct error *e);

/* Returns whether the point replays timings of a calibration point. */
bool compute_is_calibrated(const struct config *config);

/* Returns whether calibration points ignore `option`. They ignore options such as sync.* and
 * parallel.*, because they time ops of the whole network without messages. `on_hosts`: whether
 * hosts are emulated or simulated. If so, calibration points ignore site options too. */
bool compute_leaves_out(const struct spec_option *option, bool on_hosts);

/* Turns the config of a replayed point into the config of its calibration point. This point has the
 * largest micro-batch of a rank, no messages, and the ranks of one node, limited so that each rank
 * has its own cores. */
enum status compute_calibrate(struct config *config, const struct spec *spec, struct error *e);
