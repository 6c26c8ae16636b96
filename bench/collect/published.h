/* Published numbers to compare with measured ones. Options published.* of a spec match rows of a
 * CSV file to points. Internal to bench/collect. */
#pragma once

#include "bench/collect/columns.h"

/* largest number of entries in option published.values */
#define PUBLISHED_MAX 8

struct published {
    char file[256];                        /* name of the file without folder; "": none */
    size_t rows, matched;                  /* number of rows in the file; number of these that match
                                              a point */
    enum column_id columns[PUBLISHED_MAX]; /* [n] columns of summary.csv for which there are
                                              published values */
    size_t n;
    double *values; /* [n_points, n] published values, in the units of our columns; NAN: none */
};

/* Reads the published numbers that the spec names. Calibration points, and points with strategy
 * none and several ranks, get no published numbers. Call published_free in any case. Errors:
 * ERR_SPEC for an invalid entry or a missing column, ERR_DATA for mistakes in the file. */
enum status published_read(struct published *p, const struct spec *spec, struct error *e);
void published_free(struct published *p);

/* Returns the published value of a point for a column of summary.csv; NAN: none. Accuracies and
 * losses are NAN if our images are generated, since published results are from real images. */
double published_value(const struct summary *s, size_t point, enum column_id column);

/* Returns whether published values of this column are withheld because the run's images are
 * generated, not real. */
bool published_is_withheld(const struct summary *s, const char *name);

/* Returns whether any published accuracy or loss is left out (withheld) because the images of the
 * run are generated. */
bool published_withholds(const struct summary *s);
