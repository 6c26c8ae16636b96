/* Reads the summary of a run from its summary.csv, for a run whose journal and records are
 * missing. */
#include <string.h>

#include "bench/collect/fits.h"
#include "bench/collect/summary.h"
#include "bench/record/csv_reader.h"
#include "bench/spec/find.h"
#include "kernels/base/mem.h"

static enum status take_cells(struct point_summary *p, const struct csv_table *table, size_t row,
                              struct error *e)
{
    TRY(MEM_NEW(p->cells, COLUMNS, "a row of the summary", e));
    for (int i = 0; i < COLUMNS; i++) {
        p->cells[i] = strdup(csv_table_text(table, row, column_get(i)->name));
        if (p->cells[i] == NULL)
            return error_no_memory(e, "a row of the summary");
    }
    return OK;
}

/* Returns whether `text` is the path of the .yaml file of the neural network `name`. Earlier
 * versions wrote paths instead of names. */
static bool is_path_of(const char *text, const char *name)
{
    const char *stem;
    size_t length = find_stem(&stem, text, ".yaml");
    return find_is_path(text) && length == strlen(name) && strncmp(stem, name, length) == 0;
}

/* Checks that a row describes point p, since rows must be in the order of the spec. Compares
 * options, not identities: identities change when a version adds options. */
static enum status check_row(const struct point_summary *p, const struct csv_table *table,
                             size_t row, struct error *e)
{
    static const struct {
        enum column_id column;
        enum option_id option;
    } same[] = {{COLUMN_model, OPT_MODEL}, {COLUMN_optimizer, OPT_OPTIMIZER},
                {COLUMN_ranks, OPT_RANKS}, {COLUMN_nodes, OPT_NODES},
                {COLUMN_bind, OPT_BIND},   {COLUMN_strategy, OPT_STRATEGY},
                {COLUMN_order, OPT_ORDER}, {COLUMN_threads_per_rank, OPT_THREADS}};
    for (size_t i = 0; i < sizeof same / sizeof *same; i++) {
        const char *wanted = config_text(&p->point->config, same[i].option);
        const char *found = p->cells[same[i].column];
        if (point_has_option(p->point, same[i].option) && strcmp(found, wanted) != 0 &&
            !is_path_of(found, wanted))
            return error_at(e, ERR_DATA, table->path, table->lines[row], 0,
                            "%s is '%s', but spec.yaml in the same folder has '%s' for this point: "
                            "the table and the spec belong to different runs",
                            column_get(same[i].column)->name, p->cells[same[i].column], wanted);
    }
    return OK;
}

static enum status read_point(struct summary *s, size_t i, const struct csv_table *table,
                              struct error *e)
{
    struct point_summary *p = &s->points[i];
    point_take(p, s->spec, i);
    TRY(take_cells(p, table, i, e));
    TRY(check_row(p, table, i, e));
    if (point_read_cells(p, e) != OK)
        return error_at(e, e->status, table->path, table->lines[i], 0, "%s", e->text);
    int fastest = name_index(p->cells[COLUMN_peer_workload], names_workloads->names, WORKLOADS);
    if (fastest < 0)
        return OK;
    p->peer = p->point->peers[fastest];
    p->beside[fastest] = p->beside_peer; /* earlier versions wrote only the ratio to the fastest
                                            peer */
    return OK;
}

static enum status read_table(struct summary *s, const struct csv_table *table, struct error *e)
{
    size_t column;
    TRY(csv_table_column(table, "status", &column, e));
    if (table->rows != s->n)
        return error_at(e, ERR_DATA, table->path, 0, 0,
                        "found %zu rows, but spec.yaml in the same folder has %zu points: the "
                        "table and the spec belong to different runs",
                        table->rows, s->n);
    for (size_t i = 0; i < s->n; i++)
        TRY(read_point(s, i, table, e));
    summary_add_up(s);
    return OK;
}

enum status summary_read(struct summary *s, const struct spec *spec, const char *run_dir,
                         struct error *e)
{
    struct csv_table table;
    TRY(summary_open(s, spec, run_dir, e));
    enum status status = csv_table_read_run(&table, run_dir, "summary.csv", e);
    THEN(status, read_table(s, &table, e));
    csv_table_free(&table);
    THEN(status, fits_read(s, run_dir, e));
    return status;
}
