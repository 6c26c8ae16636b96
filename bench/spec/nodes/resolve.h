/* Resolves ranks, nodes and ranks_per_node. Any two of them determine the third. */
#pragma once

#include "bench/spec/spec.h"
#include "kernels/base/error.h"

/* Replaces auto, half and full in ranks, nodes and ranks_per_node by numbers, before the matrix is
 * expanded. If the spec gives no site, may choose slurm. In a Slurm job, may set ranks_per_node if
 * the spec does not. ERR_SPEC if ranks = auto gives more ranks than allowed. Also ERR_SPEC if nodes
 * or ranks_per_node is auto, half or full, and the site varies, is simulated, or is emulated
 * without a fixed number of hosts. */
enum status nodes_resolve(struct spec *spec, const struct spec_machine *machine, struct error *e);

/* Completes a point's ranks, nodes and ranks_per_node (ranks on the fullest node). Resets options
 * without a meaning at the point's site to their defaults. ERR_SPEC if the three numbers contradict
 * each other or exceed their limits. */
enum status nodes_resolve_point(struct config *config, const struct spec *spec, struct error *e);

/* Completes ranks, nodes and ranks_per_node of a baseline point, which is made from another point.
 * Counts in `baseline` take precedence over counts of the other point. */
enum status nodes_resolve_base(struct config *config, const struct config *baseline,
                               const struct spec *spec, struct error *e);
