/* Puts a figure's SVG picture into the data of a page. */
#pragma once

#include <jansson.h>

#include "kernels/base/error.h"

/* Reads an SVG file of gnuplot and sets members of `figure`: `svg` (contents of the <svg> tag,
 * shortened), `box` (viewBox), `width` (largest width on the page in pixels) and `shape` ("wide" or
 * "narrow"). Stores the <defs> (plot symbols) as `marks` of the page, unless already set. ERR_DATA
 * if the file is not an SVG file of gnuplot. */
enum status picture_read(json_t *figure, json_t *page, const char *path, struct error *e);
