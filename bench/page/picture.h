/* A figure inside a page. */
#pragma once

#include <jansson.h>

#include "kernels/base/error.h"

/* Reads an SVG file of gnuplot as `svg` of the figure, what stands inside its tag <svg>, with `box`, `width` and `shape` of
 * that tag; shorter than gnuplot writes it, looking the same. Definitions that its marks refer to become `marks` of the
 * page. ERR_DATA where the file is no picture of gnuplot. */
enum status picture_read(json_t *figure, json_t *page, const char *path, struct error *e);
