/* Moves marks of curves sideways where they would hide each other at one x. Internal to
 * bench/figures. */
#pragma once

#include <stdio.h>

#include "kernels/base/error.h"

struct figure_data;

struct spread_mark {
    size_t curve; /* number of the curve, from 1 */
    double x;
    double aside; /* shift to the right in widths of a mark, from -1 to 1 */
};

struct spread {
    struct spread_mark *marks;
    size_t n;
};

/* Finds the marks that must move sideways because they overlap. Finds none if the figure has bars
 * or no whiskers, or if it has so many x positions that most marks are not drawn. Call spread_free
 * in any case. */
enum status spread_find(struct spread *spread, const struct figure_data *d, struct error *e);
void spread_free(struct spread *spread);

/* Writes the gnuplot assignment of spread_marks: " CURVE@X=ASIDE;" for each mark. The scripts in
 * plots/ read it. */
void spread_define(FILE *out, const struct spread *spread);
