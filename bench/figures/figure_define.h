/* Defines, as gnuplot assignments, the facts that a figure's script cannot read from
 * series_<figure>.csv: series, ticks, caption. plots/style.gp lists the assigned variables.
 * Internal to bench/figures. */
#pragma once

#include "bench/figures/gnuplot.h"

pictures_definer figure_define;
