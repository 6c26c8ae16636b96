/* Finds disturbed launches, and measures noise over a point's launches. Noise is reported; it never
 * excludes a launch. Internal to bench/collect. */
#pragma once

#include "bench/collect/summary.h"

/* Sets `disturbed` of every valid launch to the causes and amounts of disturbance; "": not
 * disturbed. Launches of a point must be linked by `next`. */
enum status noise_judge_launches(struct summary *s, struct error *e);

/* Summarises a point's timed launches: disturbances, outliers, modes, trend. `tested`: number of
 * points that are tested for a trend together (Bonferroni correction). */
void noise_judge_point(struct point_noise *noise, const struct samples *time, size_t tested);

/* Returns the number of distinct points with at least 3 launches of any kind, an upper bound of the
 * number of points that are tested for a trend. */
size_t noise_points_tested(const struct summary *s);

/* Appends the causes of disturbance listed in `by` to the list `to`, without duplicates. */
void noise_join(char *to, size_t size, const char *by);
