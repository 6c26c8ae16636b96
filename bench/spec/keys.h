/* Options in a tree of YAML: `train: {lr: 1e-3}` and `train.lr: 1e-3` are the same key. */
#pragma once

#include "bench/spec/spec.h"
#include "bench/spec/yaml_reader.h"
#include "kernels/base/error.h"

/* Called for each option with its entry of the map. */
typedef enum status keys_visitor(void *arg, const struct spec_option *option,
                                 const struct node *entry, struct error *e);

/* Visits every option that `map` holds, nested or dotted; a key that is neither an option nor a
 * group of them is an error that names the nearest. What is below workload.options and not yet in `own`
 * is added there. */
enum status keys_walk(const struct node *map, struct own_options *own, keys_visitor *visit,
                      void *arg, struct error *e);

/* The same for the top of a spec and for a case: pass over what is no option there: matrix, zip,
 * exclude, baseline; extends and cases at the top, label in a case. */
enum status keys_walk_top(const struct node *map, struct own_options *own, keys_visitor *visit,
                          void *arg, struct error *e);
enum status keys_walk_case(const struct node *map, struct own_options *own, keys_visitor *visit,
                           void *arg, struct error *e);
