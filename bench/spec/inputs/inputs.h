/* Finds the files that a spec refers to, compares their contents and gives them names. */
#pragma once

#include "bench/spec/spec.h"
#include "kernels/base/error.h"

/* Finds the files that option values name. If runs keep a copy, adds the file to spec->inputs, sets
 * the value's text to the input's name and reads a model file's network. Otherwise sets the value's
 * `path` to the absolute path. ERR_SPEC or ERR_SHAPE at the value or in the file. */
enum status inputs_resolve(struct spec *spec, struct error *e);

/* Checks that each file of checkpoint.start and checkpoint.resume has the tensors of its point's
 * network, apart from prefixes of their names. ERR_SPEC; the message names both networks. */
enum status inputs_check_weights(const struct spec *spec, struct error *e);

void inputs_free(struct spec *spec);
