/* A figure inside a page. */
#pragma once

#include <stdio.h>

#include "kernels/base/error.h"

/* Writes the SVG file as gnuplot left it without its declaration, size and titles, which show as tips:
 * it takes the width it is given. Every id, and whatever refers to it, begins with `id` and '-': those
 * of several pictures of gnuplot are the same. h3 and caption of that id name and describe it. ERR_DATA
 * where the file is no picture of gnuplot. */
enum status picture_write(FILE *out, const char *path, const char *id, struct error *e);
