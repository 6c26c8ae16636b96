/* Expands a matrix to points with labels and identities. Adds baseline, calibration and other
 * partner points. */
#pragma once

#include "bench/spec/spec.h"
#include "kernels/base/error.h"

/* Fills spec->points and spec->varying from spec->config and spec->matrix. */
enum status expand_points(struct spec *spec, struct error *e);
