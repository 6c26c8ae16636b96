/* Checks that injected sleeps and ends reach a rank and a step. Internal to bench/spec/rules. */
#pragma once

#include "bench/spec/spec.h"

/* Refuses values of inject.ranks and inject.steps that have no effect. Each listed rank must exist
 * in at least one point. ERR_SPEC with the place of the value. */
enum status injected_check(const struct spec *spec, struct error *e);
