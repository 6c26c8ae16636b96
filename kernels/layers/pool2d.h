/* What both kinds of pooling share: loops over planes, each one channel of one image, and over the
 * outputs of a plane. Internal to kernels/. */
#pragma once

#include "kernels/layers/receptive_field.h"

/* Of the plane that begins at number `in` of [N,in], its outputs at number `out` of [N,out]. */
typedef void plane_function(const struct layer_call *c, size_t in, size_t out);

/* Calls f for every plane, whose cost is as that of going through so many numbers, on all threads. */
void pool_planes(const struct layer_call *c, size_t numbers, plane_function *f);

/* Of output number `out` of [N,out], whose receptive field lies in the plane at `plane`. */
typedef void output_function(const struct layer_call *c, const struct receptive_field *field,
                             size_t plane, size_t out);

/* For the references: calls f for every output in order. */
void pool_all_outputs(const struct layer_call *c, output_function *f);

/* The same for gradients, which are added to dx: zero at first, NULL when nobody wants them. */
void pool_all_gradients(const struct layer_call *c, output_function *f);
