/* Captions below figures: the measured points and quantities, the method and the base. Internal to
 * bench/figures. */
#pragma once

#include "bench/figures/figure_data.h"

/* Makes a caption of one paragraph. `full`: with all facts; otherwise only the facts that readers
 * need below the picture. The caller frees *caption. */
enum status caption_make(char **caption, const struct figure_data *d, bool full, struct error *e);

/* Makes a line that lists points without a value, for the space below the axis. ERR_ARGUMENT if the
 * figure has no points. The caller frees *missing. */
enum status missing_make(char **missing, const struct figure_data *d, struct error *e);

/* Functions that write sentences of captions, internal to this folder. They write nothing if there
 * is nothing to report. missing_write: points whose status is not ok, by name and reason if `full`,
 * else as counts. missing_write_seeds: points with fewer accuracy runs than seeds. disturbed_write:
 * disturbed launches behind the shown points; a shared launch counts once. flaws_write: points
 * whose weights differ between ranks because the spec reproduces a flaw of a published program. */
void missing_write(FILE *out, const struct summary *s, bool full);
void missing_write_seeds(FILE *out, const struct summary *s);
void disturbed_write(FILE *out, const struct figure_data *d);
void flaws_write(FILE *out, const struct summary *s);
