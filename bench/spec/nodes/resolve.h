/* Ranks, nodes and ranks a node: two of them say the third. */
#pragma once

#include "bench/spec/spec.h"
#include "kernels/base/error.h"

/* Before expansion: makes numbers of the words auto, half and full, by the site that the spec, or the
 * case, names. ERR_SPEC where that site varies, or does not say how many hosts it has. */
enum status nodes_resolve(struct spec *spec, const struct spec_machine *machine, struct error *e);

/* Of a point: ranks or nodes where they are not given, ranks_per_node always, which is that of the
 * fullest node. A site without hosts of its own has site.* at their presets. ERR_SPEC where all three are
 * given and do not go together. */
enum status nodes_resolve_point(struct config *config, const struct spec *spec, struct error *e);

/* The same of a point that has got the values of a baseline, which count before its own. */
enum status nodes_resolve_base(struct config *config, const struct config *baseline,
                               const struct spec *spec, struct error *e);
