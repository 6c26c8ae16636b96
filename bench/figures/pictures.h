/* The pictures of a figure: <figure>.svg and .png, and .pdf where gnuplot has it. */
#pragma once

#include "bench/collect/stage.h"

/* Runs plots_dir/<script>.gp after these assignments, which make it draw into the stage. */
enum status pictures_draw(const struct stage *stage, const char *plots_dir, const char *script,
                          const char *figure, char *definitions, struct error *e);
/* Gives the finished pictures their names: until then the old ones stand. */
enum status pictures_keep(const struct stage *stage, const char *figure, struct error *e);
void pictures_remove(const char *folder, const char *figure);
