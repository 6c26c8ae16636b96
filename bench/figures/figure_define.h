/* What the script of a figure cannot read from series_<figure>.csv (series, ticks, caption), as
 * assignments of gnuplot; plots/style.gp lists them. Internal to bench/figures. */
#pragma once

#include "bench/collect/stage.h"
#include "bench/figures/figure_data.h"

enum status figure_define(FILE *out, const struct figure_data *d, const char *plots_dir,
                          const struct stage *stage, struct error *e);
