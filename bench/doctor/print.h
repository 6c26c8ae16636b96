/* Prints the report of `scalebench doctor`: tables of nodes and links, findings, and advice. */
#pragma once

#include <stdio.h>

#include "bench/doctor/diagnosis.h"

/* Prints the whole report. Wraps findings to `width`, the number of columns of the terminal. If
 * there is no terminal (0) or it is very narrow, wraps findings to 100 columns. */
void doctor_print(FILE *out, const struct examination *x, const struct diagnosis *d, int width);
