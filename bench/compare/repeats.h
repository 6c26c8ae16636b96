/* Repetitions of compared runs: runs in the same campaign's folder that measured the same points
 * under the same facts (begun with --fresh). They join the side of the run, and show the variation
 * between campaigns. Internal to bench/compare. */
#pragma once

#include "bench/compare/floor.h"
#include "bench/compare/side.h"

/* Reads the repetitions of each of the n sides. A compared run is never a repetition of another. If
 * several sides repeat each other, only the first gets the repetitions. Runs without tables,
 * because they have not ended, are skipped. Published numbers have no repetitions. */
enum status repeats_find(struct side *sides, size_t n, const struct compared *what,
                         struct error *e);

/* Returns the point of `side` with p's identity, if it has launches; else NULL. */
const struct side_point *repeats_find_point(const struct side *side, const struct side_point *p);

/* Adds the variation between a run and its repetitions to the floor. */
enum status repeats_add(struct noise_floor *floor, struct side *run, struct error *e);
