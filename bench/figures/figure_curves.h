/* Curves over anything, for the script that draws them: as assignments of gnuplot, which plots/line.gp
 * lists. Internal to bench/figures. */
#pragma once

#include "bench/figures/figure_data.h"

enum status curves_define(FILE *out, const struct figure_data *d, struct error *e);
