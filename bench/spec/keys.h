/* Options in a tree of YAML: `train: {lr: 1e-3}` and `train.lr: 1e-3` are the same key. */
#pragma once

#include "bench/spec/spec.h"
#include "bench/spec/yaml_reader.h"
#include "kernels/base/error.h"

/* Called for each option with its entry of the map. */
typedef enum status keys_visitor(void *arg, const struct spec_option *option,
                                 const struct node *entry, struct error *e);

/* Words that may stand beside options and are none: extends, matrix, cases ... at the top of a spec, label and some of
 * these in a case. */
enum keys_beside { NOTHING_BESIDE, BESIDE_AT_TOP, BESIDE_IN_CASE };

/* Visits every option that `map` holds, nested or dotted, and passes over what may stand beside them; a key that is
 * neither an option nor a group of them is an error that names the nearest. What is below workload.options and not yet
 * in `own` is added there. */
enum status keys_walk(const struct node *map, enum keys_beside beside, struct own_options *own,
                      keys_visitor *visit, void *arg, struct error *e);
