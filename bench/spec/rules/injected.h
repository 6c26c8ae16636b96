/* Checks that injected sleeps and kills affect at least one rank and step. Internal to
 * bench/spec/rules. */
#pragma once

#include "bench/spec/spec.h"

/* Refuses values of inject.ranks, inject.steps and inject.phase that have no effect. Each listed
 * rank must exist in at least one point. ERR_SPEC with the position of the value. */
enum status injected_check(const struct spec *spec, struct error *e);
