/* A table of texts, for a terminal or a document. Internal to bench/compare. */
#pragma once

#include <stdio.h>

#include "bench/collect/table/markup.h"
#include "kernels/base/error.h"

enum { GRID_TEXT = 160 };

struct grid {
    size_t rows, columns;     /* headers count as a row */
    char (*cells)[GRID_TEXT]; /* [rows, columns] */
    int *worth;               /* of a column: where there is little room the least goes first */
};

enum { GRID_KEPT = 100 };

/* Freed with grid_free in any case. */
enum status grid_make(struct grid *g, size_t rows, size_t columns, struct error *e);
void grid_free(struct grid *g);

static inline char *grid_cell(const struct grid *g, size_t row, size_t column)
{
    return g->cells[row * g->columns + column];
}

/* In so many columns of a terminal, 0: as wide as it is. The first column gets shorter once others
 * have gone. Returns how many columns were left out. */
size_t grid_print(FILE *out, const struct grid *g, int width);

void grid_write(FILE *out, const struct grid *g, const struct markup *m);
