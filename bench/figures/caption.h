/* Captions below figures: what was measured, how, and against which base. Internal to
 * bench/figures. */
#pragma once

#include "bench/figures/figure_data.h"

/* Makes a caption of one paragraph. full: all facts; otherwise those needed beside the figure.
 * The caller frees *caption. */
enum status caption_make(char **caption, const struct figure_data *d, bool full, struct error *e);

/* Makes the line below the axis of a figure over ranks, which lists points without a value.
 * ERR_ARGUMENT if the figure has no points. The caller frees *missing. */
enum status missing_make(char **missing, const struct figure_data *d, struct error *e);

/* Parts of captions, internal: points without a good value, by name and reason or as counts;
 * missing seeds; disturbed launches behind the shown points; weights that differ because of a
 * flaw of published programs. Launches that several cases share count once. Each function writes
 * nothing if its subject is empty. */
void missing_write(FILE *out, const struct summary *s, bool full);
void missing_write_seeds(FILE *out, const struct summary *s);
void disturbed_write(FILE *out, const struct figure_data *d);
void flaws_write(FILE *out, const struct summary *s);
