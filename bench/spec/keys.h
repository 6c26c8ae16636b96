/* Visits options in a YAML tree. `train: {lr: 1e-3}` and `train.lr: 1e-3` are the same key. */
#pragma once

#include "bench/spec/value.h"
#include "kernels/base/error.h"

/* Function that keys_walk calls for each option, with the option's map entry in `g`. */
typedef enum status keys_visitor(void *arg, const struct given *g, struct error *e);

/* Keys of parts.def that are allowed beside options: none, keys of a spec's top level (such as
 * extends), or keys of a case (such as label). */
enum keys_beside { NOTHING_BESIDE, BESIDE_AT_TOP, BESIDE_IN_CASE };

/* Visits every option in `map`, nested or dotted; skips the keys allowed beside options. Rejects
 * any other key and names the nearest one. Adds new options below workload.options to `own`. */
enum status keys_walk(const struct node *map, enum keys_beside beside, struct own_options *own,
                      keys_visitor *visit, void *arg, struct error *e);
