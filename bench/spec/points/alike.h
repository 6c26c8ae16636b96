/* Groups points by values of some options, with a hash table. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "bench/spec/spec.h"
#include "kernels/base/error.h"

/* Table with a number for each group of points that have equal values of the chosen options. */
struct alike;

/* Makes a table for at most `most` points. `chosen` selects options; only those that differ between
 * the points of the spec now count. NULL: points are grouped by identity. The spec is borrowed
 * during the call. Free with alike_free. */
enum status alike_make(struct alike **alike, const struct spec *spec,
                       bool (*chosen)(const struct spec_option *option), size_t most,
                       struct error *e);
/* From now on, points of different cases are in different groups. */
void alike_by_case(struct alike *alike);
void alike_free(struct alike *alike);

#define ALIKE_NONE ((size_t)-1)

/* Returns the number of the point's group, for reading and writing; ALIKE_NONE at first. */
size_t *alike_of(struct alike *alike, const struct point *point);

/* Sets the number of the point's group to `i` unless it has one. */
void alike_note_first(struct alike *alike, const struct point *point, size_t i);

/* Returns the number for an identity, ALIKE_NONE if there is none. Only for tables made without
 * `chosen`. */
size_t alike_find(const struct alike *alike, const char *id);

/* Returns whether an option differs between points that it concerns: requested points only, or all
 * but calibrations. */
bool option_differs(const struct spec *spec, enum option_id id, bool requested_only);
/* Returns whether an option differs between points of one case, or of a spec without cases. */
bool option_differs_in(const struct spec *spec, const struct matrix *of, enum option_id id);
