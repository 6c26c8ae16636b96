/* Finds the files that a spec refers to, compares their contents and gives them names. */
#pragma once

#include "bench/spec/spec.h"
#include "kernels/base/error.h"

/* Finds the files that option values name. If a run keeps a copy of such a file, adds the file to
 * spec->inputs, sets the value's text to the input's name and, for a model file, reads the network.
 * Otherwise sets the value's `path` to the absolute path. ERR_SPEC or ERR_SHAPE, with the position
 * in the file if it is known, else with the position of the value. */
enum status inputs_resolve(struct spec *spec, struct error *e);

/* Checks for each point that the tensors of its checkpoint.start and checkpoint.resume files fit
 * its network. Tensor names in a file may have a prefix, such as "module.". ERR_SPEC if a file
 * cannot be read or does not fit. A recorded spec (a run's spec.yaml) is not checked. */
enum status inputs_check_weights(const struct spec *spec, struct error *e);

void inputs_free(struct spec *spec);
