/* Draws figures of the tables that comm_sweep and kernel_sweep write. */
#include <string.h>

#include "bench/figures/figures.h"
#include "bench/figures/gnuplot.h"
#include "bench/record/csv_reader.h"
#include "kernels/base/names.h"

static const struct sweep_figure rows[] = {
    {"comm.csv", "flat", "latency_us", "latency", "comm",
     "Time of MPI_Allreduce by size, and how many times as fast the other operations are."},
    {"comm.csv", "flat", "busbw_gbyte_per_s", "busbw", "comm",
     "Bus bandwidth by size, for sums that send 2 (p - 1) / p times their bytes."},
    {"kernels.csv", "op", "gflop_done_per_s", "roofline", "roofline",
     "Rate of each op of the networks, below the roofs of memory and of one core."},
};
enum { ROWS = sizeof rows / sizeof *rows };

const struct sweep_figure *figures_of_sweeps(size_t *n)
{
    *n = ROWS;
    return rows;
}

/* Sets *found if the table has a row that the figure can draw. Axes are logarithmic, so a zero
 * cannot be drawn. */
static enum status find_drawn(const struct csv_table *table, const struct sweep_figure *f,
                              bool *found, struct error *e)
{
    size_t part, column;
    const struct csv_wanted wanted[] = {{"part", &part}, {f->column, &column}};
    TRY(csv_table_columns(table, wanted, sizeof wanted / sizeof *wanted, e));
    for (size_t row = 0; row < table->rows; row++) {
        double x;
        TRY(csv_table_number(table, row, column, &x, e));
        *found = *found || (strcmp(csv_table_cell(table, row, part), f->part) == 0 && x > 0);
    }
    return OK;
}

static enum status has_drawn(const char *path, const struct sweep_figure *f, bool *found,
                             struct error *e)
{
    struct csv_table table;
    enum status status = csv_table_read(&table, path, e);
    THEN(status, find_drawn(&table, f, found, e));
    csv_table_free(&table);
    return status;
}

struct shown {
    const struct sweep_figure *f;
    const char *folder;
};

static enum status define(FILE *out, const void *what, const struct pictures *pictures,
                          struct error *e)
{
    char path[4500];
    const struct shown *shown = what;
    gnuplot_define_text(out, "plots", pictures->plots_dir);
    gnuplot_define_text(out, "figure", shown->f->figure);
    snprintf(path, sizeof path, "%s/%s", shown->folder, shown->f->table);
    gnuplot_define_text(out, "csv", path);
    snprintf(path, sizeof path, "%s/link.csv", shown->folder);
    gnuplot_define_text(out, "link", path);
    snprintf(path, sizeof path, "%s/%s", pictures->stage->dir, shown->f->figure);
    gnuplot_define_text(out, "out", path);
    return OK;
}

/* Draws one figure, or removes older pictures if the table has no rows for it. *found: whether the
 * table has rows for the figure. */
static enum status draw_or_remove(const struct shown *shown, const struct pictures *pictures,
                                  bool *found, struct error *e)
{
    char path[4500];
    const struct sweep_figure *f = shown->f;
    snprintf(path, sizeof path, "%s/%s", shown->folder, f->table);
    TRY(has_drawn(path, f, found, e));
    if (!*found) {
        pictures_remove(pictures->stage->run_dir, f->figure);
        return OK;
    }
    TRY(pictures_draw(pictures, f->script, f->figure, define, shown, e));
    return pictures_keep(pictures, f->figure, e);
}

enum status figures_draw_sweep(const char *folder, const char *table, const char *to,
                               const char *plots_dir, enum figures_files files, FILE *out,
                               struct error *e)
{
    struct stage stage;
    const struct pictures pictures = {&stage, plots_dir, files};
    enum status status = stage_open(&stage, to, e);
    for (size_t i = 0; i < ROWS && status == OK; i++) {
        bool found = false;
        if (strcmp(rows[i].table, table) != 0)
            continue;
        status = draw_or_remove(&(struct shown){&rows[i], folder}, &pictures, &found, e);
        if (status == OK && found && out != NULL)
            fprintf(out, "%s/%s.svg\n", to, rows[i].figure);
    }
    stage_close(&stage);
    return status;
}

enum status figures_check_sweep(const char *table, struct error *e)
{
    const char *names[ROWS];
    char why[256];
    size_t n = 0;
    for (size_t i = 0; i < ROWS; i++)
        if (name_index(rows[i].table, names, n) < 0)
            names[n++] = rows[i].table;
    return name_index(table, names, n) >= 0
               ? OK
               : error_set(e, ERR_ARGUMENT, "figures: expected the table of a sweep: %s",
                           name_explain(why, sizeof why, table, names, n));
}
