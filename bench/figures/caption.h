/* What stands below every figure: what was measured, how, and against which base. Internal to
 * bench/figures. */
#pragma once

#include "bench/figures/figure_data.h"

/* One paragraph: all there is to say, or what a reader needs beside the figure. The caller frees it. */
enum status caption_make(char **caption, const struct figure_data *d, bool full, struct error *e);

/* Below the axis of a figure over ranks: which of its points have no value. ERR_ARGUMENT where it has no points. The
 * caller frees it. */
enum status missing_make(char **missing, const struct figure_data *d, struct error *e);

/* Inside: what a caption says of points without a good value, by name and with the reason or how many of each status
 * alone; of seeds that points lack; of launches behind the points that are shown that were disturbed, of which what
 * cases share counts once; of weights that differ by an option that is a flaw of published programs. Each writes nothing
 * where there is nothing to say. */
void missing_write(FILE *out, const struct summary *s, bool full);
void missing_write_seeds(FILE *out, const struct summary *s);
void disturbed_write(FILE *out, const struct figure_data *d);
void flaws_write(FILE *out, const struct summary *s);
