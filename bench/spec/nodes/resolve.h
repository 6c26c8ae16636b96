/* Resolves ranks, nodes and ranks_per_node. Any two of them determine the third. */
#pragma once

#include "bench/spec/spec.h"
#include "kernels/base/error.h"

/* Replaces the words auto, half and full by numbers, before the matrix is expanded. If the spec
 * gives no site, may choose site slurm. In a Slurm job, may set ranks_per_node if the spec does
 * not. ERR_SPEC if nodes or ranks_per_node has such a word and the site varies, is simulated, or is
 * emulated with no fixed number of hosts. Also ERR_SPEC if ranks = auto gives more ranks than
 * allowed. */
enum status nodes_resolve(struct spec *spec, const struct spec_machine *machine, struct error *e);

/* Completes ranks, nodes and ranks_per_node (of the fullest node) of a point. Options without a
 * meaning at the point's site (config_concerns) get their defaults. ERR_SPEC if the three numbers
 * contradict each other or exceed their limits. */
enum status nodes_resolve_point(struct config *config, const struct spec *spec, struct error *e);

/* Completes ranks, nodes and ranks_per_node of a baseline point, which is made from another point.
 * Counts in `baseline` take precedence over counts of the other point. */
enum status nodes_resolve_base(struct config *config, const struct config *baseline,
                               const struct spec *spec, struct error *e);
