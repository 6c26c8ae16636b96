/* Figure inside a page. */
#pragma once

#include <jansson.h>

#include "kernels/base/error.h"

/* Reads an SVG file of gnuplot into `svg` (the contents of its <svg> tag), `box`, `width` and
 * `shape` of the figure. The text is shortened without changing its look. The definitions of its
 * marks become `marks` of the page. ERR_DATA if it is not an SVG file of gnuplot. */
enum status picture_read(json_t *figure, json_t *page, const char *path, struct error *e);
