/* Disturbed launches, and noise of a point's launches. Noise is reported; it never excludes a
 * launch. Internal to bench/collect. */
#pragma once

#include "bench/collect/summary.h"

/* Sets `disturbed` of every launch that counts to the causes, in words. Launches must be chained by
 * point (`next`). */
enum status noise_judge_launches(struct summary *s, const struct journal *journal, struct error *e);

/* Computes the noise of a point's timed launches: disturbances, outliers, modes, trend. `tested`:
 * number of points tested for a trend together. */
void noise_judge_point(struct point_noise *noise, const struct samples *time, size_t tested);

/* Returns the number of points with enough timed launches for a trend. */
size_t noise_points_tested(const struct summary *s);

/* Appends the causes in `by` that `to` lacks. */
void noise_join(char *to, size_t size, const char *by);
