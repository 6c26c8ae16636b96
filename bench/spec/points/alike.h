/* Groups points by values of some options, with a hash table. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "bench/spec/spec.h"
#include "kernels/base/error.h"

/* Hash table with one number for each group of points. Points of a group have equal values of the
 * chosen options. */
struct alike;

/* Makes a table for at most `most` points. `chosen` selects the options to compare; NULL: points
 * are grouped by identity. A chosen option is compared only if it is not derived and differs
 * between the spec's points at the time of the call (option_differs). Borrows the spec during the
 * call. Free with alike_free. */
enum status alike_make(struct alike **alike, const struct spec *spec,
                       bool (*chosen)(const struct spec_option *option), size_t most,
                       struct error *e);
/* From now on, points of different cases are in different groups. */
void alike_by_case(struct alike *alike);
void alike_free(struct alike *alike);

#define ALIKE_NONE ((size_t)-1)

/* Returns a pointer to the number of the point's group. The number is ALIKE_NONE until the caller
 * sets it. */
size_t *alike_of(struct alike *alike, const struct point *point);

/* Sets the number of the point's group to `i` if it is still ALIKE_NONE. Usually `i` is the point's
 * index, so the group gets the index of its first point. */
void alike_note_first(struct alike *alike, const struct point *point, size_t i);

/* Returns the number of the group with this point identity; ALIKE_NONE if there is none. Requires
 * groups by identity alone: `chosen` was NULL in alike_make, and alike_by_case was not called. */
size_t alike_find(const struct alike *alike, const char *id);

/* Returns whether an option differs between points, ignoring calibration points and points at which
 * it has no meaning. requested_only: also ignores points that the spec does not request. */
bool option_differs(const struct spec *spec, enum option_id id, bool requested_only);
/* Returns whether an option differs between points of case `of`. In a spec without cases, `of` is
 * spec->matrix. */
bool option_differs_in(const struct spec *spec, const struct matrix *of, enum option_id id);
