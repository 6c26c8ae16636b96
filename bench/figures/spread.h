/* Marks of curves that share one x: those whose intervals would hide each other are drawn beside each other.
 * Internal to bench/figures. */
#pragma once

#include <stdbool.h>
#include <stdio.h>

#include "kernels/base/error.h"

struct figure_data;

/* A mark that is moved. */
struct spread_mark {
    size_t curve; /* from 1 */
    double x;
    double aside; /* in widths of a mark, from -1 to 1 */
};

struct spread {
    struct spread_mark *marks;
    size_t n;
};

/* Finds the marks of a figure that are moved, by its values. Bars, and figures that draw no marks, have none.
 * Freed with spread_free in any case. */
enum status spread_find(struct spread *spread, const struct figure_data *d, struct error *e);
void spread_free(struct spread *spread);

/* Assigns spread_marks (" CURVE@X=ASIDE;" for each mark) for plots/. */
void spread_define(FILE *out, const struct spread *spread);
