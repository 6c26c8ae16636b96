/* Finds the repetitions of compared runs. A repetition is another run in the campaign's folder with
 * the same facts (facts.def), such as programs and class of machine. It usually exists because of
 * --fresh. Repetitions show the variation between campaigns. Internal to bench/compare. */
#pragma once

#include "bench/compare/floor.h"
#include "bench/compare/side.h"

/* Reads the repetitions of each side's run. Leaves out repetitions that have not ended and those
 * that are sides of the comparison themselves. If runs of several sides repeat each other, the
 * first of these sides gets the repetitions. */
enum status repeats_find(struct side *sides, size_t n, const struct compared *what,
                         struct error *e);

/* Returns the point of `side` that has the same identity (`id`) as `p` and has launches; otherwise
 * NULL. `side` and the side of `p` are a run and one of its repetitions. */
const struct side_point *repeats_find_point(const struct side *side, const struct side_point *p);

/* Adds the variation between a run and its repetitions to the estimate of the noise floor. */
enum status repeats_add(struct noise_floor *floor, struct side *run, struct error *e);
