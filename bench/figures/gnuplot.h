/* Runs gnuplot, with assignments for a script. Internal to bench/figures. */
#pragma once

#include <stddef.h>
#include <stdio.h>

#include "bench/collect/stage.h"
#include "bench/figures/figures.h"

/* Writes NAME='value'; in which gnuplot interprets nothing. Control characters become blanks. */
void gnuplot_define_text(FILE *out, const char *name, const char *value);
void gnuplot_define_number(FILE *out, const char *name, double value);
/* Writes NAME='1 2.5 '; a list of words. */
void gnuplot_define_numbers(FILE *out, const char *name, const double *values, size_t n);

/* Writes an assignment for field `field` of the k-th entry of a list: series2_name='value'; */
void gnuplot_define_text_of(FILE *out, const char *list, size_t k, const char *field,
                            const char *value);

/* Runs a script after these assignments, without the user's own gnuplot settings.
 * ERR_UNAVAILABLE if gnuplot is not installed. ERR_SYSTEM names the script and gnuplot's
 * message. */
enum status gnuplot_run(char *definitions, char *script, struct error *e);

/* Pictures drawn into `stage` by the scripts in plots_dir. */
struct pictures {
    const struct stage *stage;
    const char *plots_dir;
    enum figures_files files;
};

/* Writes the assignments of a figure. */
typedef enum status pictures_definer(FILE *out, const void *figure, const struct pictures *pictures,
                                     struct error *e);

/* Draws figure `name` by plots_dir/<script>.gp after the assignments of `what`: <name>.svg and
 * .png, and .pdf if gnuplot supports it; for a page only .svg. */
enum status pictures_draw(const struct pictures *pictures, const char *script, const char *name,
                          pictures_definer *define, const void *what, struct error *e);
/* Moves finished pictures to their final names. Until then old pictures stay. */
enum status pictures_keep(const struct pictures *pictures, const char *name, struct error *e);
void pictures_remove(const char *folder, const char *name);
