/* What stands below every figure: what was measured, how, and against which base. Internal to
 * bench/figures. */
#pragma once

#include "bench/figures/figure_data.h"

#define CAPTION_LINES_MAX 48

struct caption {
    char *text;                     /* owns the lines */
    char *lines[CAPTION_LINES_MAX]; /* of the picture, once caption_wrap cut it */
    size_t n;
};

/* One paragraph: all there is to say, or what a reader needs beside the figure. */
enum status caption_make(struct caption *caption, const struct figure_data *d, bool full,
                         struct error *e);
/* Letters of a line of the picture. */
enum { CAPTION_COLUMN = 68, CAPTION_PAGE = 140 };
/* Breaks the text at blanks, in place, into lines of this width. */
void caption_wrap(struct caption *caption, size_t width);
void caption_free(struct caption *caption);
