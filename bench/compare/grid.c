#include "bench/compare/grid.h"

#include <stdbool.h>
#include <stdlib.h>

#include "bench/collect/table/table.h"
#include "kernels/base/mem.h"
#include "kernels/base/terminal.h"

enum { SHORTEST = 16 }; /* the first column is never cut below this width (characters) */

enum status grid_make(struct grid *g, size_t rows, size_t columns, struct error *e)
{
    *g = (struct grid){.rows = rows, .columns = columns};
    TRY(MEM_NEW(g->cells, rows * columns, "a table", e));
    return MEM_NEW(g->worth, columns, "a table", e);
}

void grid_free(struct grid *g)
{
    free(g->cells);
    free(g->worth);
    *g = (struct grid){.rows = 0};
}

/* ---- Terminal ---- */

/* Returns the printed width of the table (characters). Columns of width 0 are hidden. */
static int width_of(const struct grid *g, const int *widths)
{
    int width = -2;
    for (size_t c = 0; c < g->columns; c++)
        width += widths[c] > 0 ? widths[c] + 2 : 0;
    return width;
}

static void measure(const struct grid *g, int *widths)
{
    for (size_t c = 0; c < g->columns; c++)
        for (size_t row = 0; row < g->rows; row++) {
            int width = terminal_columns(grid_cell(g, row, c));
            widths[c] = width > widths[c] ? width : widths[c];
        }
}

/* Hides the visible columns of lowest priority by setting their width to 0. Returns false if no
 * column may be hidden. */
static bool leave_out(const struct grid *g, int *widths, size_t *left_out)
{
    int least = GRID_KEPT;
    for (size_t c = 0; c < g->columns; c++)
        if (widths[c] > 0 && g->worth[c] < least)
            least = g->worth[c];
    for (size_t c = 0; c < g->columns && least < GRID_KEPT; c++)
        if (widths[c] > 0 && g->worth[c] == least) {
            widths[c] = 0;
            (*left_out)++;
        }
    return least < GRID_KEPT;
}

static void print_rows(FILE *out, const struct grid *g, const int *widths)
{
    for (size_t row = 0; row < g->rows; row++) {
        const char *between = "";
        for (size_t c = 0; c < g->columns; c++) {
            if (widths[c] == 0)
                continue;
            fputs(between, out);
            table_print_padded(out, grid_cell(g, row, c), widths[c]);
            between = "  ";
        }
        fputc('\n', out);
    }
}

size_t grid_print(FILE *out, const struct grid *g, int width)
{
    size_t left_out = 0;
    int *widths = calloc(g->columns, sizeof *widths);
    if (widths == NULL) {
        fputs("no memory for the table\n", out);
        return 0;
    }
    measure(g, widths);
    while (width > 0 && width_of(g, widths) > width && leave_out(g, widths, &left_out))
        ;
    int excess = width > 0 ? width_of(g, widths) - width : 0;
    if (excess > 0 && widths[0] > SHORTEST)
        widths[0] = widths[0] - excess > SHORTEST ? widths[0] - excess : SHORTEST;
    print_rows(out, g, widths);
    free(widths);
    return left_out;
}

/* ---- Document ---- */

void grid_write(FILE *out, const struct grid *g, const struct markup *m)
{
    markup_begin_table(out, m, g->columns, 0);
    for (size_t row = 0; row < g->rows; row++) {
        fputs(m->begin, out);
        for (size_t c = 0; c < g->columns; c++) {
            fputs(c > 0 ? m->between : "", out);
            markup_write_text(out, m, grid_cell(g, row, c));
        }
        fputs(m->end, out);
        if (row == 0)
            markup_end_headers(out, m, g->columns, 0);
    }
    markup_end_table(out, m);
}
