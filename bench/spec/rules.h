/* Rules between values, and what must be given at all. */
#pragma once

#include "bench/spec/spec.h"
#include "kernels/base/error.h"

/* Before expansion: what concerns the whole campaign. */
enum status rules_check_spec(const struct spec *spec, struct error *e);

/* After it: what concerns single points, and the models they name. */
enum status rules_check_points(const struct spec *spec, struct error *e);
