/* What stands below every figure: what was measured, how, and against which base. Internal to
 * bench/collect. */
#ifndef SCALEBENCH_COLLECT_CAPTION_H
#define SCALEBENCH_COLLECT_CAPTION_H

#include "bench/collect/figure_data.h"

#define CAPTION_LINES_MAX 48

struct caption {
    char *text;                     /* owns the lines */
    char *lines[CAPTION_LINES_MAX]; /* each fits a column */
    size_t n;
};

enum status caption_make(struct caption *caption, const struct figure_data *d, struct error *e);
void caption_free(struct caption *caption);

#endif
