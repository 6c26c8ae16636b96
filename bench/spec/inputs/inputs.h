/* Finds the files that a spec names, compares their contents and names them. */
#pragma once

#include "bench/spec/spec.h"
#include "kernels/base/error.h"

/* Fills spec->inputs from all values that name files, and reads networks. The values get the names
 * of their inputs as text. ERR_SPEC or ERR_SHAPE at the value or in the file. */
enum status inputs_resolve(struct spec *spec, struct error *e);

void inputs_free(struct spec *spec);
