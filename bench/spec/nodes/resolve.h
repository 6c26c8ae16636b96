/* Resolves ranks, nodes and ranks_per_node. Any two of them determine the third. */
#pragma once

#include "bench/spec/spec.h"
#include "kernels/base/error.h"

/* Replaces the words auto, half and full by numbers, before expansion. They depend on the site of
 * the spec or case. ERR_SPEC if the site varies or does not give its hosts. */
enum status nodes_resolve(struct spec *spec, const struct spec_machine *machine, struct error *e);

/* Completes ranks, nodes and ranks_per_node (of the fullest node) of a point. On sites without
 * emulated hosts, site.* get their defaults. ERR_SPEC if all three are given and do not fit
 * together. */
enum status nodes_resolve_point(struct config *config, const struct spec *spec, struct error *e);

/* Completes the counts of a base. Values of the baseline take precedence over the point's. */
enum status nodes_resolve_base(struct config *config, const struct config *baseline,
                               const struct spec *spec, struct error *e);
