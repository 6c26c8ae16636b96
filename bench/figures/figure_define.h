/* What the script of a figure cannot read from series_<figure>.csv (series, ticks, caption), as
 * assignments of gnuplot; plots/style.gp lists them. Internal to bench/figures. */
#pragma once

#include "bench/figures/gnuplot.h"

pictures_definer figure_define;
