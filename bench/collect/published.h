/* Published numbers beside ours: rows of a CSV file that options published.* of a spec match to
 * points. Internal to bench/collect. */
#pragma once

#include "bench/collect/columns.h"

/* largest number of entries in published.values */
#define PUBLISHED_MAX 8

struct published {
    char file[256];                        /* name of the file without folder; "": none */
    size_t rows, matched;                  /* numbers of rows in the file, and of rows that match
                                              a point */
    enum column_id columns[PUBLISHED_MAX]; /* [n] our columns that have published values */
    size_t n;
    double *values; /* [n_points, n] published values; NAN: none */
};

/* Reads the file that the spec names. Call published_free in any case. Errors: ERR_SPEC at the
 * option if columns are missing, ERR_DATA with file and line for mistakes in the file. Points of
 * strategy none at several ranks, and calibrations, get no published numbers. */
enum status published_read(struct published *p, const struct spec *spec, struct error *e);
void published_free(struct published *p);

/* Returns the published value of a point for one of our columns; NAN if there is none. With
 * generated data, accuracies and losses are NAN as well, since they would belong to another
 * problem. */
double published_value(const struct summary *s, size_t point, enum column_id column);

/* Returns whether published values of this column are withheld because our data are generated. */
bool published_is_withheld(const struct summary *s, const char *name);

/* Returns whether any published accuracy or loss is withheld. */
bool published_withholds(const struct summary *s);
