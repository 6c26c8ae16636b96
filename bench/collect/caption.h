/* What stands below every figure: what was measured, how, and against which base. Internal to
 * bench/collect. */
#ifndef SCALEBENCH_COLLECT_CAPTION_H
#define SCALEBENCH_COLLECT_CAPTION_H

#include "bench/collect/collect.h"

#define CAPTION_LINES_MAX 16

struct caption {
    char *text;                     /* owns the lines */
    char *lines[CAPTION_LINES_MAX]; /* each fits a column */
    size_t n;
};

enum status caption_make(struct caption *caption, const struct summary *s, struct error *e);
void caption_free(struct caption *caption);

#endif
