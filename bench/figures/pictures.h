/* The pictures of a figure: <figure>.svg and .png, and .pdf where gnuplot has it; for a page, .svg alone. */
#pragma once

#include <stdio.h>

#include "bench/collect/stage.h"

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
