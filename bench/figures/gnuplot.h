/* gnuplot as a program: assignments for a script, and running it. Internal to bench/figures. */
#pragma once

#include <stddef.h>
#include <stdio.h>

#include "bench/collect/stage.h"

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

/* The pictures of a figure: <figure>.svg and .png, and .pdf where gnuplot has it; for a page, .svg alone. */
enum pictures { PICTURES_ALL, PICTURES_FOR_PAGE };

/* One of the assignments below: which pictures are drawn. */
void pictures_define(FILE *out, enum pictures pictures);
/* Runs plots_dir/<script>.gp after these assignments, which make it draw into the stage. */
enum status pictures_draw(const struct stage *stage, const char *plots_dir, const char *script,
                          const char *figure, char *definitions, struct error *e);
/* Gives the finished pictures their names: until then the old ones stand. */
enum status pictures_keep(const struct stage *stage, const char *figure, enum pictures pictures,
                          struct error *e);
void pictures_remove(const char *folder, const char *figure);
