/* Moves marks of curves sideways if their intervals would overlap at one x. Internal to
 * bench/figures. */
#pragma once

#include <stdbool.h>
#include <stdio.h>

#include "kernels/base/error.h"

struct figure_data;

/* A mark to be moved. */
struct spread_mark {
    size_t curve; /* number of the curve, from 1 */
    double x;
    double aside; /* shift in widths of a mark, from -1 to 1 */
};

struct spread {
    struct spread_mark *marks;
    size_t n;
};

/* Finds the marks to be moved. Bars and figures without marks have none. Call spread_free in any
 * case. */
enum status spread_find(struct spread *spread, const struct figure_data *d, struct error *e);
void spread_free(struct spread *spread);

/* Writes the assignment of spread_marks (" CURVE@X=ASIDE;" for each mark) for plots/. */
void spread_define(FILE *out, const struct spread *spread);
