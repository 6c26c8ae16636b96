/* Points found by what some of their values say, without comparing each with each. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "bench/spec/spec.h"
#include "kernels/base/error.h"

/* A number for each kind of point: those whose options that count have equal values are of one. */
struct alike;

/* For at most `most` points: those that spec->points has now, and further ones that differ from one
 * of these in no option that counts. `chosen` says which, NULL: points are alike that have one identity, and
 * further ones may be any. The spec is borrowed during the call. Freed with alike_free. */
enum status alike_make(struct alike **alike, const struct spec *spec,
                       bool (*chosen)(const struct spec_option *option), size_t most,
                       struct error *e);
/* From now on points of different cases are not alike. */
void alike_by_case(struct alike *alike);
void alike_free(struct alike *alike);

#define ALIKE_NONE ((size_t)-1)

/* The number of the point's kind, for the caller to read and write; ALIKE_NONE at first. */
size_t *alike_of(struct alike *alike, const struct point *point);

/* Number `i` for the point's kind where it has none yet. */
void alike_note_first(struct alike *alike, const struct point *point, size_t i);

/* The number of points of that identity, ALIKE_NONE where there was none; of one made without
 * `chosen`. */
size_t alike_find(const struct alike *alike, const char *id);

/* The option has different values where it means something, of the requested points only or of all but
 * calibrations. */
bool option_differs(const struct spec *spec, enum option_id id, bool requested_only);
/* It has different values in points of one case, or in those of a spec without cases. */
bool option_differs_in(const struct spec *spec, const struct matrix *of, enum option_id id);
