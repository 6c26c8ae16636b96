/* Moves the marks of curves sideways if marks at the same x would hide each other. Internal to
 * bench/figures. */
#pragma once

#include <stdio.h>

#include "kernels/base/error.h"

struct figure_data;

struct spread_mark {
    size_t curve; /* number of the curve, from 1 */
    double x;
    double aside; /* sideways shift in mark widths, from -1 (left) to 1 (right) */
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

/* Writes an assignment to gnuplot's variable spread_marks: a text with " CURVE@X=ASIDE;" for each
 * mark. The scripts in plots/ read it. */
void spread_define(FILE *out, const struct spread *spread);
