/* gnuplot as a program: assignments for a script, and running it. Internal to bench/figures. */
#pragma once

#include <stddef.h>
#include <stdio.h>

#include "kernels/base/error.h"

/* NAME='value'; in which gnuplot interprets nothing. Control characters become blanks. */
void gnuplot_define_text(FILE *out, const char *name, const char *value);
void gnuplot_define_number(FILE *out, const char *name, double value);
/* NAME='1 2.5'; as words. */
void gnuplot_define_numbers(FILE *out, const char *name, const double *values, size_t n);

/* "series2_name" into text, which it returns. */
#define GNUPLOT_NAME 64
const char *gnuplot_numbered(char text[GNUPLOT_NAME], const char *list, size_t k,
                             const char *field);

/* Runs a script after these assignments, whatever the user's own gnuplot settings are.
 * ERR_UNAVAILABLE where there is no gnuplot; ERR_SYSTEM names the script and what gnuplot said. */
enum status gnuplot_run(char *definitions, char *script, struct error *e);
