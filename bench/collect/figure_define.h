/* What the script of a figure cannot read from series_<figure>.csv (series, ticks, caption), as
 * assignments of gnuplot; plots/style.gp lists them. Internal to bench/collect. */
#ifndef SCALEBENCH_COLLECT_FIGURE_DEFINE_H
#define SCALEBENCH_COLLECT_FIGURE_DEFINE_H

#include "bench/collect/figure_data.h"
#include "bench/collect/stage.h"

enum status figure_define(FILE *out, const struct figure_data *d, const char *plots_dir,
                          const struct stage *stage, struct error *e);

#endif
