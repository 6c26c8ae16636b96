/* What stands below every figure: what was measured, how, and against which base. Internal to
 * bench/figures. */
#pragma once

#include "bench/figures/figure_data.h"

/* One paragraph: all there is to say, or what a reader needs beside the figure. The caller frees it. */
enum status caption_make(char **caption, const struct figure_data *d, bool full, struct error *e);

/* Below the axis of a figure over ranks: which of its points have no value. ERR_ARGUMENT where it has no points. The
 * caller frees it. */
enum status missing_make(char **missing, const struct figure_data *d, struct error *e);
