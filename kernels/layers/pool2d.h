/* Loops shared by both kinds of pooling: over planes (a plane is one channel of one image) and over
 * outputs. Internal to kernels/. */
#pragma once

#include "kernels/layers/receptive_field.h"

/* Processes one plane. Its inputs (c->x, c->dx) begin at index `in`, its outputs (c->y, c->dy) at
 * index `out`. */
typedef void plane_function(const struct layer_call *c, size_t in, size_t out);

/* Calls f once for every plane; the planes are divided among the threads. `numbers`: number of
 * values that f processes per plane, for splitting the work. */
void pool_planes(const struct layer_call *c, size_t numbers, plane_function *f);

/* Processes one output, at index `out` of c->y and c->dy. Its receptive field lies in the input
 * plane that begins at index `plane` of c->x and c->dx. */
typedef void output_function(const struct layer_call *c, const struct receptive_field *field,
                             size_t plane, size_t out);

/* Calls f for every output in order, in one thread. Used by the reference versions. */
void pool_all_outputs(const struct layer_call *c, output_function *f);

/* Zeroes dx, then calls f for every output; f must add the output's gradient to dx. Does nothing if
 * dx is NULL. */
void pool_all_gradients(const struct layer_call *c, output_function *f);
