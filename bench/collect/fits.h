/* Laws of speed-up fitted to curves over ranks: the rows of fits.csv, also printed as text below
 * the table. Internal to bench/collect. */
#pragma once

#include "bench/collect/columns.h"
#include "bench/collect/series.h"
#include "bench/collect/timing.h"

/* efficiency below which a curve has passed its knee */
#define FITS_KNEE 0.75

/* fewest distinct rank counts on a curve, base included, for a fit */
enum { FITS_RANK_COUNTS = 4 };

struct fits {
    struct fits_row *rows; /* [n] one row per curve and law, curve by curve */
    size_t n;
    struct series_list series; /* all series; owns the series names in `rows` */
};

/* Fits laws to each curve of at least four rank counts and sets s->fits. `launches` [s->n]: timed
 * launches of each point. Call fits_free in any case. Errors: ERR_MEMORY. */
enum status fits_make(struct summary *s, const struct timings *launches, struct error *e);

/* Sets s->fits as fits_make does, but reads the launches from <run_dir>/raw.csv. Without this file,
 * the fits have no intervals. Errors: also ERR_DATA if the file is damaged. */
enum status fits_read(struct summary *s, const char *run_dir, struct error *e);

/* Returns the fit of a law to the curve that contains s->points[point]; NULL: no such fit. */
const struct fits_row *fits_find(const struct summary *s, size_t point, const char *law);

/* Frees `fits`, its rows and its series; NULL is allowed. */
void fits_free(struct fits *fits);
