/* Finds the files that a spec refers to, compares their contents and gives them names. */
#pragma once

#include "bench/spec/spec.h"
#include "kernels/base/error.h"

/* Finds the files that values of options name. Adds each file of which runs keep a copy to
 * spec->inputs, and sets the value's text to the name of this input; also reads networks. Other
 * values get the absolute path of their file. ERR_SPEC or ERR_SHAPE at the value or in the file. */
enum status inputs_resolve(struct spec *spec, struct error *e);

/* Checks that each file of checkpoint.start and checkpoint.resume has the tensors of its point's
 * network. Prefixes of tensor names are ignored. ERR_SPEC; the message names the networks of the
 * file and of the point. */
enum status inputs_check_weights(const struct spec *spec, struct error *e);

void inputs_free(struct spec *spec);
