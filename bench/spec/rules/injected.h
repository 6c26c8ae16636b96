/* Checks that injected sleeps and ends reach a rank and a step. Internal to bench/spec/rules. */
#pragma once

#include "bench/spec/spec.h"

/* Refuses inject.ranks and inject.steps without effect. A listed rank may be missing at some
 * points, but not at all of them. ERR_SPEC with the place of the value. */
enum status injected_check(const struct spec *spec, struct error *e);
