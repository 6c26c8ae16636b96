/* The files that a spec names: found, told from each other by what is in them, named. */
#pragma once

#include "bench/spec/spec.h"
#include "kernels/base/error.h"

/* Fills spec->inputs from all values of the spec that name files, networks being read, and gives
 * those values the inputs' names as text. ERR_SPEC or ERR_SHAPE at the value, or in the file. */
enum status inputs_resolve(struct spec *spec, struct error *e);

void inputs_free(struct spec *spec);
