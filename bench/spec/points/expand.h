/* Expands a matrix to labelled points. Adds base points, calibration points and points without
 * communication. */
#pragma once

#include "bench/spec/spec.h"
#include "kernels/base/error.h"

/* Fills spec->points and spec->varying from spec->config and spec->matrix. */
enum status expand_points(struct spec *spec, struct error *e);
