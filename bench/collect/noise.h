/* Launches that were disturbed, and what the launches of a point say of each other. All of it is told
 * and counted; nothing of it leaves a launch out. Internal to bench/collect. */
#pragma once

#include "bench/collect/summary.h"

/* Fills `disturbed` of every launch that counts: by what, in words. Wants the launches chained. */
enum status noise_judge_launches(struct summary *s, const struct journal *journal, struct error *e);

/* Fills what the timed launches of a point come to: how many were disturbed and by what, outliers,
 * modes, and whether their steps change while they are timed. `tested`: points that are asked the
 * last question at once. */
void noise_judge_point(struct point_noise *noise, const struct samples *time, size_t tested);

/* How many points have enough timed launches for a trend. */
size_t noise_points_tested(const struct summary *s);

/* Appends the kinds of disturbance that `by` names and `to` does not. */
void noise_join(char *to, size_t size, const char *by);
