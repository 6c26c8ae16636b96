/* From a matrix to points with their labels, identities and bases. */
#pragma once

#include <stdbool.h>

#include "bench/spec/spec.h"
#include "kernels/base/error.h"

/* The option says what is computed; the others (ranks, nodes, place.*, sync.*) where and how. */
bool option_is_problem(const struct spec_option *option);

/* Fills spec->points and spec->varying from spec->config and spec->matrix. */
enum status expand_points(struct spec *spec, struct error *e);
