/* gnuplot as a program: assignments for a script, and running it. Internal to bench/figures. */
#pragma once

#include <stddef.h>
#include <stdio.h>

#include "bench/collect/stage.h"
#include "bench/figures/figures.h"

/* NAME='value'; in which gnuplot interprets nothing. Control characters become blanks. */
void gnuplot_define_text(FILE *out, const char *name, const char *value);
void gnuplot_define_number(FILE *out, const char *name, double value);
/* NAME='1 2.5'; as words. */
void gnuplot_define_numbers(FILE *out, const char *name, const double *values, size_t n);

/* The same of a field of the k-th of a list: series2_name='value'; */
void gnuplot_define_text_of(FILE *out, const char *list, size_t k, const char *field,
                            const char *value);

/* Runs a script after these assignments, whatever the user's own gnuplot settings are.
 * ERR_UNAVAILABLE where there is no gnuplot; ERR_SYSTEM names the script and what gnuplot said. */
enum status gnuplot_run(char *definitions, char *script, struct error *e);

/* How pictures are drawn: by the scripts in plots_dir, into the stage. */
struct pictures {
    const struct stage *stage;
    const char *plots_dir;
    enum figures_files files;
};

/* Writes the assignments of a figure. */
typedef enum status pictures_definer(FILE *out, const void *figure, const struct pictures *pictures,
                                     struct error *e);

/* Runs plots_dir/<script>.gp after the assignments of `what`, which make it draw the figure `name`: <name>.svg and .png,
 * and .pdf where gnuplot has it; for a page, .svg alone. */
enum status pictures_draw(const struct pictures *pictures, const char *script, const char *name,
                          pictures_definer *define, const void *what, struct error *e);
/* Gives the finished pictures their names: until then the old ones stand. */
enum status pictures_keep(const struct pictures *pictures, const char *name, struct error *e);
void pictures_remove(const char *folder, const char *name);
