/* Finds points that run alike on this machine although their options differ: the ranks have the
 * same processors, and the kernels use the same instruction set. */
#pragma once

#include "bench/place/place.h"
#include "bench/spec/spec.h"
#include "kernels/base/error.h"

struct same_here;

/* Makes an empty table for the points of `spec`, which it borrows. Free with same_here_free. */
enum status same_here_open(struct same_here **same, const struct spec *spec, struct error *e);
void same_here_free(struct same_here *same);

/* Adds a point that the spec requests and whose site runs launches on this machine; ignores other
 * points. `plan`: processors of the point's ranks. */
enum status same_here_add(struct same_here *same, size_t point, const struct place_plan *plan,
                          struct error *e);

/* If points run alike, prints a note with the first two and the number of further such points. */
void same_here_note(const struct same_here *same);
