/* Where ranks compute, and where the time passes that this would take. */
#pragma once

#include "bench/spec/matrix.h"
#include "bench/spec/spec.h"
#include "kernels/base/error.h"

/* Before expansion: compute.cores is the machine's where some point may not compute and it is not given,
 * so that a run keeps what its points followed from. */
enum status compute_resolve(struct spec *spec, const struct spec_machine *machine, struct error *e);

/* Of a point: `auto` becomes real or replay. One that computes has what belongs to replay at its
 * presets. */
enum status compute_resolve_point(struct config *config, const struct spec *spec, struct error *e);

/* The same of a base that has been made of a point of this matrix or case: where that said `auto`, it is the
 * base's own ranks that count. */
enum status compute_resolve_base(struct config *config, const struct selection *baseline,
                                 const struct spec *spec, const struct matrix *of, struct error *e);

/* The point computes nothing, and its times come from another one. */
bool compute_is_calibrated(const struct config *config);

/* Whether calibrations are without an option: it is neither computed nor has to do with where. */
bool compute_leaves_out(const struct spec_option *option, bool on_hosts);

/* Makes of such a point's values those of the one that is timed in its place: the largest batch of its
 * ranks, on each core that a node of it fills, without messages. */
enum status compute_calibrate(struct config *config, const struct spec *spec, struct error *e);
