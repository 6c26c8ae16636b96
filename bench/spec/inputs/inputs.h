/* Finds the files that a spec refers to, compares their contents and gives them names. */
#pragma once

#include "bench/spec/spec.h"
#include "kernels/base/error.h"

/* Finds the files that values name. A file that runs copy is added to spec->inputs, and the value's
 * text becomes the name of this input; a network is also read. Other values get the absolute path
 * of their file. ERR_SPEC or ERR_SHAPE at the value or in the file. */
enum status inputs_resolve(struct spec *spec, struct error *e);

/* Checks that each file of checkpoint.start and checkpoint.resume has the tensors of its point's
 * network. Prefixes of names are ignored. ERR_SPEC names both networks. */
enum status inputs_check_weights(const struct spec *spec, struct error *e);

void inputs_free(struct spec *spec);
