/* Lays out a table of texts and prints it on a terminal or writes it to a document. Internal to
 * bench/compare. */
#pragma once

#include <stdio.h>

#include "bench/collect/table/markup.h"
#include "kernels/base/error.h"

enum { GRID_TEXT = 160 };

struct grid {
    size_t rows, columns;     /* numbers of rows (header included) and columns */
    char (*cells)[GRID_TEXT]; /* [rows, columns] texts */
    int *worth;               /* [columns] priority; on a narrow terminal, columns of low priority
                                 are dropped first */
};

/* Priority of columns that are never dropped. */
enum { GRID_KEPT = 100 };

/* Allocates a table of empty texts. Call grid_free in any case. */
enum status grid_make(struct grid *g, size_t rows, size_t columns, struct error *e);
void grid_free(struct grid *g);

static inline char *grid_cell(const struct grid *g, size_t row, size_t column)
{
    return g->cells[row * g->columns + column];
}

/* Prints the table. If it is wider than `width` characters (0: unlimited), drops columns of low
 * priority, then shortens the first column. Returns the number of dropped columns. */
size_t grid_print(FILE *out, const struct grid *g, int width);

/* Writes the whole table in the markup of a document, such as Markdown or LaTeX. */
void grid_write(FILE *out, const struct grid *g, const struct markup *m);
