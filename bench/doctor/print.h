/* Prints the report of `scalebench doctor`: tables of nodes and links, findings, and advice. */
#pragma once

#include <stdio.h>

#include "bench/doctor/diagnosis.h"

/* Prints the whole report. width: columns of the terminal; 0: no limit. */
void doctor_print(FILE *out, const struct examination *x, const struct diagnosis *d, int width);
