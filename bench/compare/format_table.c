/* Writes a comparison as a table: text, Markdown or LaTeX. */
#include <stdlib.h>

#include "bench/collect/table/table.h"
#include "bench/compare/format.h"
#include "bench/compare/grid.h"
#include "kernels/base/text.h"

/* Headers of the first columns, which show the reference, and of the columns repeated for each run.
 * `worth`: the column's priority on a narrow terminal (grid.h). */
static const struct header {
    const char *name;
    int worth;
} of_reference[] = {{"point", GRID_KEPT}, {"reference", 2}, {"launches", 1}},
  of_run[] = {{"run", 2}, {"launches", 1}, {"ratio", 3}, {"verdict", GRID_KEPT}};
enum { OF_REFERENCE = sizeof of_reference / sizeof *of_reference };
enum { OF_RUN = sizeof of_run / sizeof *of_run };

static void put(const struct grid *g, size_t row, size_t column, const char *text)
{
    snprintf(grid_cell(g, row, column), GRID_TEXT, "%s", text);
}

struct count {
    size_t launches, campaigns, disturbed;
};

/* Writes a number of launches: "12", "66 in 11" for 11 campaigns, or "6, 4 disturbed". Writes
 * "published" for a published value. */
static void put_count(const struct grid *g, size_t row, size_t column, const struct side_point *p,
                      const struct count *count)
{
    char *cell = grid_cell(g, row, column), campaigns[48] = "", disturbed[48] = "";
    if (count->campaigns > 1)
        snprintf(campaigns, sizeof campaigns, " in %zu", count->campaigns);
    if (count->disturbed > 0)
        snprintf(disturbed, sizeof disturbed, ", %zu disturbed", count->disturbed);
    if (p->exact)
        put(g, row, column, "published");
    else
        snprintf(cell, GRID_TEXT, "%zu%s%s", count->launches, campaigns, disturbed);
}

static void put_number(const struct grid *g, size_t row, size_t column, double number)
{
    char text[TEXT_NUMBER];
    put(g, row, column, text_significant(text, number, 4));
}

/* Writes the column headers. If several runs are compared, the header of each run's column ends
 * with the run's number; write_names lists the runs by number above the table. */
static void put_headers(const struct grid *g)
{
    for (size_t column = 0; column < g->columns; column++) {
        bool first = column < OF_REFERENCE;
        size_t run = first ? 0 : 1 + (column - OF_REFERENCE) / OF_RUN;
        const struct header *header =
            first ? &of_reference[column] : &of_run[(column - OF_REFERENCE) % OF_RUN];
        g->worth[column] = header->worth;
        put(g, 0, column, header->name);
        if (run > 0 && g->columns > OF_REFERENCE + OF_RUN)
            snprintf(grid_cell(g, 0, column), GRID_TEXT, "%s %zu", header->name, run);
    }
}

static void put_cell(const struct grid *g, size_t row, size_t column, const struct comparison *c,
                     const struct compare_cell *cell)
{
    char ratio[TEXT_INTERVAL];
    for (size_t i = 0; i < OF_RUN; i++)
        put(g, row, column + i, "-");
    if (cell->point == NULL)
        return;
    put_number(g, row, column, cell->judged.median);
    put_count(g, row, column + 1, cell->point,
              &(struct count){cell->judged.n, cell->judged.campaigns, cell->judged.disturbed});
    put(g, row, column + 2, format_ratio(ratio, &cell->judged));
    put(g, row, column + 3, verdict_name(cell->judged.verdict, c->rules.what));
}

static void put_row(const struct grid *g, size_t row, const struct comparison *c, size_t i)
{
    const struct side_point *p = &c->sides[0].points[i];
    put(g, row, 0, compare_label(p));
    put_number(g, row, 1, stats_median(p->values, p->n));
    put_count(g, row, 2, p, &(struct count){p->n, 1, p->disturbed});
    for (size_t side = 1; side < c->n_sides; side++) {
        const struct judged *j = &compare_cell(c, i, side)->judged;
        if (j->reference_n > 0) {
            put_number(g, row, 1, j->reference);
            put_count(
                g, row, 2, p,
                &(struct count){j->reference_n, j->reference_campaigns, j->reference_disturbed});
        }
        put_cell(g, row, OF_REFERENCE + OF_RUN * (side - 1), c, compare_cell(c, i, side));
    }
}

static bool is_shown(const struct comparison *c, size_t i)
{
    bool shown = c->sides[0].points[i].n > 0;
    for (size_t side = 1; side < c->n_sides; side++) {
        const struct side_point *p = compare_cell(c, i, side)->point;
        shown = shown || (p != NULL && p->n > 0);
    }
    return shown;
}

static enum status make_grid(struct grid *g, const struct comparison *c, struct error *e)
{
    size_t rows = 1;
    TRY(grid_make(g, 1 + c->sides[0].n, OF_REFERENCE + OF_RUN * (c->n_sides - 1), e));
    for (size_t i = 0; i < c->sides[0].n; i++)
        if (is_shown(c, i))
            put_row(g, rows++, c, i);
    g->rows = rows;
    put_headers(g);
    return OK;
}

static void write_names(FILE *out, const struct comparison *c)
{
    fprintf(out, "%s\n", c->rules.what->title);
    fprintf(out, "  reference  %s\n", c->sides[0].name);
    for (size_t side = 1; side < c->n_sides; side++)
        if (c->n_sides > 2)
            fprintf(out, "  run %-6zu %s\n", side, c->sides[side].name);
        else
            fprintf(out, "  run        %s\n", c->sides[side].name);
    format_write_matches(out, c);
}

/* Sets *text to the lines above the table, the table itself (omitted if `g` is NULL) and the notes
 * below it. The caller frees *text. */
static enum status write_text(char **text, const struct comparison *c, const struct grid *g,
                              int width, struct error *e)
{
    size_t size = 0;
    FILE *memory = open_memstream(text, &size);
    if (memory == NULL)
        return error_no_memory(e, "a table");
    write_names(memory, c);
    if (g != NULL && grid_print(memory, g, width) > 0)
        fputs("Some columns do not fit on this terminal; --format csv has all.\n", memory);
    format_write_notes(memory, c);
    return fclose(memory) == 0 ? OK : error_no_memory(e, "a table");
}

/* ---- Text ---- */

enum status format_text(FILE *out, const struct comparison *c, const struct format_options *options,
                        struct error *e)
{
    struct grid g;
    char *text = NULL;
    enum status status = make_grid(&g, c, e);
    THEN(status, write_text(&text, c, &g, options->width, e));
    if (status == OK)
        table_print_lines(out, text, options->width);
    grid_free(&g);
    free(text);
    return status;
}

/* ---- Documents ---- */

static enum status write_document(FILE *out, const struct comparison *c, const struct markup *m,
                                  struct error *e)
{
    struct grid g;
    char *notes = NULL;
    enum status status = make_grid(&g, c, e);
    if (status == OK)
        grid_write(out, &g, m);
    THEN(status, write_text(&notes, c, NULL, 0, e));
    if (status == OK)
        markup_write_notes(out, m, notes);
    grid_free(&g);
    free(notes);
    return status;
}

enum status format_markdown(FILE *out, const struct comparison *c,
                            const struct format_options *options, struct error *e)
{
    return write_document(out, c, &markup_markdown, e);
}

enum status format_latex(FILE *out, const struct comparison *c,
                         const struct format_options *options, struct error *e)
{
    return write_document(out, c, &markup_latex, e);
}
