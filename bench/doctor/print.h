/* Prints the report of `scalebench doctor`: tables of nodes and links, findings, and advice. */
#pragma once

#include <stdio.h>

#include "bench/doctor/diagnosis.h"

/* Prints the whole report. `width`: columns of the terminal, to which findings are wrapped; 0: no
 * terminal, findings are wrapped to 100 columns. */
void doctor_print(FILE *out, const struct examination *x, const struct diagnosis *d, int width);
