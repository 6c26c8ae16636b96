/* Writes gnuplot assignments, and runs a gnuplot script after them. Internal to bench/figures. */
#pragma once

#include <stddef.h>
#include <stdio.h>

#include "bench/collect/stage.h"
#include "bench/figures/figures.h"

/* Writes an assignment, such as title='value'. gnuplot expands nothing in the value. Control
 * characters become blanks. */
void gnuplot_define_text(FILE *out, const char *name, const char *value);
void gnuplot_define_number(FILE *out, const char *name, double value);
/* Writes a list as one text that gnuplot splits into words: NAME='1 2.5 '; */
void gnuplot_define_numbers(FILE *out, const char *name, const double *values, size_t n);

/* Writes an assignment for the k-th entry of a list, such as series2_name='value' for `list`
 * "series" and `field` "_name". */
void gnuplot_define_text_of(FILE *out, const char *list, size_t k, const char *field,
                            const char *value);

/* Runs a script after the assignments in `definitions`, without the user's gnuplot settings.
 * ERR_UNAVAILABLE if gnuplot is not installed; ERR_SYSTEM with gnuplot's message if the script
 * fails. */
enum status gnuplot_run(char *definitions, char *script, struct error *e);

/* Folder where pictures are drawn (stage), folder of the scripts (plots_dir), and the formats. */
struct pictures {
    const struct stage *stage;
    const char *plots_dir;
    enum figures_files files;
};

/* Callback that writes the gnuplot assignments of one figure. */
typedef enum status pictures_definer(FILE *out, const void *figure, const struct pictures *pictures,
                                     struct error *e);

/* Draws <name>.svg and .png, and .pdf if gnuplot supports it; with FIGURES_FOR_PAGE only .svg. Runs
 * plots_dir/<script>.gp after the gnuplot assignments that the callback `define` writes for
 * `what`. */
enum status pictures_draw(const struct pictures *pictures, const char *script, const char *name,
                          pictures_definer *define, const void *what, struct error *e);
/* Moves the pictures of figure `name` from the temporary folder (stage) to the final folder,
 * replacing older pictures. If no new .pdf was drawn, removes an older one, except with
 * FIGURES_FOR_PAGE. */
enum status pictures_keep(const struct pictures *pictures, const char *name, struct error *e);
void pictures_remove(const char *folder, const char *name);
