/* Laws of speed-up fitted to curves over ranks: the rows of fits.csv, which the text below the
 * table prints too. Internal to bench/collect. */
#pragma once

#include "bench/collect/columns.h"
#include "bench/collect/series.h"
#include "bench/collect/timing.h"

/* efficiency below which a curve has passed its knee */
#define FITS_KNEE 0.75

/* least number of rank counts to which a law is fitted */
enum { FITS_RANK_COUNTS = 4 };

struct fits {
    struct fits_row *rows; /* [n] one row per curve and law, curve by curve */
    size_t n;
    struct series_list series; /* owns the names of series in the rows */
};

/* Fits laws to each curve of at least four rank counts and sets s->fits. `launches` [s->n]: timed
 * launches of each point. Call fits_free in any case. Errors: ERR_MEMORY. */
enum status fits_make(struct summary *s, const struct timings *launches, struct error *e);

/* Works as fits_make, with the launches in <run_dir>/raw.csv. Without this file, the fits have no
 * intervals. ERR_DATA with file and line if the file is damaged. */
enum status fits_read(struct summary *s, const char *run_dir, struct error *e);

/* Returns the fit of a law to the curve that has points[point]; NULL if that curve has no such
 * fit. */
const struct fits_row *fits_find(const struct summary *s, size_t point, const char *law);

/* Frees s->fits; NULL is allowed. */
void fits_free(struct fits *fits);
