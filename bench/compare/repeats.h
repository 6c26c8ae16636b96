/* The repetitions of runs that are compared, as their campaigns' folders have them: each run brings those
 * that measured the same points again under the same facts (begun with --fresh), to be one side with it and to
 * tell what changes between campaigns. Internal to bench/compare. */
#pragma once

#include "bench/compare/floor.h"
#include "bench/compare/side.h"

/* Reads the repetitions of each of the n sides. Runs that are compared count only as what they are, and
 * of several that repeat each other the first alone brings others. A run that has not ended has no tables
 * yet and is left out; numbers of others repeat nothing. */
enum status repeats_find(struct side *sides, size_t n, const struct compared *what,
                         struct error *e);

/* The point of that identity in a run where it has launches, or NULL. */
const struct side_point *repeats_find_point(const struct side *side, const struct side_point *p);

/* Adds a run and its repetitions to the floor. */
enum status repeats_add(struct noise_floor *floor, struct side *run, struct error *e);
