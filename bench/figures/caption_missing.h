/* What a caption says of points without a good value, of launches that were disturbed and of weights that
 * differ. Each function writes nothing where there is nothing to say. Internal to bench/figures. */
#pragma once

#include "bench/figures/figure_data.h"

/* Points without a good value, by name and with the reason. */
enum status missing_write(FILE *out, const struct summary *s, struct error *e);
/* How many of each status alone. */
void missing_write_counts(FILE *out, const struct summary *s);
/* Seeds that points lack. */
void missing_write_seeds(FILE *out, const struct summary *s);

/* How many of the launches behind the points that are shown were disturbed; what cases share counts once. */
enum status disturbed_write(FILE *out, const struct figure_data *d, struct error *e);
/* Points whose weights differ by an option that is a flaw of published programs. */
void flaws_write(FILE *out, const struct summary *s);
