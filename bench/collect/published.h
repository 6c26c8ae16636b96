/* Published numbers beside ours: a CSV file whose rows are matched to points by what a spec says
 * (published.*). Internal to bench/collect. */
#pragma once

#include "bench/collect/columns.h"

/* Most entries of published.values. */
#define PUBLISHED_MAX 8

struct published {
    char file[256];                        /* without its folder; "": nothing is compared */
    size_t rows, matched;                  /* of the file; those of them that belong to a point */
    enum column_id columns[PUBLISHED_MAX]; /* of ours */
    size_t n;
    double *values; /* [n_points, n]; NAN where nothing was published */
};

/* Reads the file that the spec names. ERR_SPEC at the option for what it does not have, ERR_DATA
 * with file and line for what is wrong in it. Freed with published_free in any case. Ranks that
 * train apart (none at several ranks) and calibrations are no point of any publication. */
enum status published_read(struct published *p, const struct spec *spec, struct error *e);
void published_free(struct published *p);

/* What was published for a point in one of our columns; NAN where nothing was, and for accuracies
 * and losses where our data are generated: those would be numbers of another problem. */
double published_value(const struct summary *s, size_t point, enum column_id column);

/* Whether values of a column, of whichever file, would be such numbers. */
bool published_is_withheld(const struct summary *s, const char *name);

/* Accuracies or losses were published that are not shown. */
bool published_withholds(const struct summary *s);
