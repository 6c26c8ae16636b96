/* Finds the files that a spec refers to, compares their contents and gives them names. */
#pragma once

#include "bench/spec/spec.h"
#include "kernels/base/error.h"

/* Finds the files that option values name. If runs keep a copy of a file, adds the file to
 * spec->inputs and sets the value's text to the input's name; also reads a model file's network.
 * For other files, sets the value's `path` to the absolute path. ERR_SPEC or ERR_SHAPE at the value
 * or in the file. */
enum status inputs_resolve(struct spec *spec, struct error *e);

/* Checks that each file of checkpoint.start and checkpoint.resume has the tensors of its point's
 * network. Prefixes of tensor names are ignored. ERR_SPEC; the message names the networks of the
 * file and of the point. */
enum status inputs_check_weights(const struct spec *spec, struct error *e);

void inputs_free(struct spec *spec);
