/* The summary of a run of which only the tables are left, from its summary.csv. */
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench/collect/summary.h"
#include "bench/record/csv_reader.h"
#include "bench/spec/find.h"
#include "kernels/base/names.h"

static enum status read_cells(struct point_summary *p, const struct csv_table *table, size_t row,
                              struct error *e)
{
    p->cells = calloc(COLUMNS, sizeof *p->cells);
    if (!p->cells)
        return error_set(e, ERR_MEMORY, "no memory for %d columns", COLUMNS);
    for (int i = 0; i < COLUMNS; i++) {
        int column = csv_table_find(table, column_get(i)->name);
        p->cells[i] = strdup(column < 0 ? "" : csv_table_cell(table, row, (size_t)column));
        if (!p->cells[i])
            return error_set(e, ERR_MEMORY, "no memory for %d columns", COLUMNS);
    }
    return OK;
}

/* Earlier versions wrote the path of a network, not its name. */
static bool is_path_of(const char *text, const char *name)
{
    const char *stem;
    size_t length = find_stem(&stem, text, ".yaml");
    return find_is_path(text) && length == strlen(name) && strncmp(stem, name, length) == 0;
}

/* Rows stand in the order of the spec's points. Identities need not agree: they change when a later
 * version knows more options. What tells points from each other does not. */
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
        if (strcmp(found, wanted) != 0 && !is_path_of(found, wanted))
            return error_at(e, ERR_DATA, table->path, table->lines[row], 0,
                            "%s is '%s', but spec.yaml beside it has '%s' at this point: the two "
                            "are not of one run",
                            column_get(same[i].column)->name, p->cells[same[i].column], wanted);
    }
    return OK;
}

static enum status number_of(const struct csv_table *table, size_t row, enum column_id id,
                             double *x, struct error *e)
{
    int column = csv_table_find(table, column_get(id)->name);
    *x = NAN;
    return column < 0 ? OK : csv_table_number(table, row, (size_t)column, x, e);
}

static enum status read_numbers(struct point_summary *p, const struct csv_table *table, size_t row,
                                struct error *e)
{
    const struct {
        enum column_id id;
        double *x;
    } others[] = {
        {COLUMN_foreign_pct, &p->foreign_pct},   {COLUMN_memory_mib, &p->memory_mib},
        {COLUMN_growth_mib, &p->growth_mib},     {COLUMN_batch_per_rank, &p->batch_per_rank},
        {COLUMN_test_acc_pct, &p->test_acc_pct}, {COLUMN_ci_level, &p->step_ms.level}};
    size_t n;
    const struct point_number *numbers = point_numbers(&n);
    for (size_t i = 0; i < n; i++)
        TRY(number_of(table, row, numbers[i].column, (double *)((char *)p + numbers[i].offset), e));
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        TRY(number_of(table, row, others[i].id, others[i].x, e));
    p->step_ms.met = p->step_ms.level >= SUMMARY_CONFIDENCE;
    return OK;
}

/* A whole number; `none` where the cell is empty. */
static enum status count_of(const struct csv_table *table, size_t row, enum column_id id, int none,
                            int *count, struct error *e)
{
    double x;
    enum status status = number_of(table, row, id, &x, e);
    *count = none;
    if (status != OK || isnan(x))
        return status;
    if (!(x >= 0 && x <= INT_MAX && x == floor(x)))
        return error_at(e, ERR_DATA, table->path, table->lines[row], 0,
                        "%s: %g is not a whole number of 0 to %d", column_get(id)->name, x,
                        INT_MAX);
    *count = (int)x;
    return OK;
}

static enum status read_counts(struct point_summary *p, const struct csv_table *table, size_t row,
                               struct error *e)
{
    int launches = 0, failed = 0, pairs = 0;
    enum status status = count_of(table, row, COLUMN_launches, 0, &launches, e);
    if (status == OK)
        status = count_of(table, row, COLUMN_failed_launches, 0, &failed, e);
    if (status == OK)
        status = count_of(table, row, COLUMN_speedup_pairs, 0, &pairs, e);
    if (status == OK)
        status = count_of(table, row, COLUMN_last_rank, -1, &p->last_rank, e);
    p->launches = (size_t)launches;
    p->failed_launches = (size_t)failed;
    p->pairs = (size_t)pairs;
    return status;
}

static enum status read_point(struct summary *s, size_t i, const struct csv_table *table,
                              struct error *e)
{
    struct point_summary *p = &s->points[i];
    char text[256];
    point_take(p, s->spec, i);
    enum status status = read_cells(p, table, i, e);
    if (status == OK)
        status = check_row(p, table, i, e);
    if (status == OK)
        status = read_numbers(p, table, i, e);
    if (status == OK)
        status = read_counts(p, table, i, e);
    if (status != OK)
        return status;
    int outcome = name_index(p->cells[COLUMN_status], point_status_names(), POINT_STATUSES);
    if (outcome < 0)
        return error_at(e, ERR_DATA, table->path, table->lines[i], 0, "status %s",
                        name_explain(text, sizeof text, p->cells[COLUMN_status],
                                     point_status_names(), POINT_STATUSES));
    p->outcome = (enum point_status)outcome;
    snprintf(p->status, sizeof p->status, "%s", p->cells[COLUMN_status]);
    snprintf(p->reason, sizeof p->reason, "%s", p->cells[COLUMN_reason]);
    snprintf(p->flags, sizeof p->flags, "%s", p->cells[COLUMN_flags]);
    p->precision_met = p->launches > 0 && !strstr(p->flags, "ci_not_met");
    return OK;
}

enum status summary_read(struct summary *s, const struct spec *spec, const char *run_dir,
                         struct error *e)
{
    char path[4096];
    struct csv_table table;
    size_t column;
    *s = (struct summary){.spec = spec};
    s->points = calloc(spec->n_points + 1, sizeof *s->points);
    if (!s->points)
        return error_set(e, ERR_MEMORY, "no memory for %zu points", spec->n_points);
    s->n = spec->n_points;
    snprintf(path, sizeof path, "%s/summary.csv", run_dir);
    enum status status = csv_table_read(&table, path, e);
    if (status == OK)
        status = csv_table_column(&table, "status", &column, e);
    if (status == OK && table.rows != s->n)
        status = error_at(e, ERR_DATA, path, 0, 0,
                          "%zu rows, but spec.yaml beside it has %zu points", table.rows, s->n);
    for (size_t i = 0; i < s->n && status == OK; i++)
        status = read_point(s, i, &table, e);
    csv_table_free(&table);
    if (status == OK)
        status = summary_take_published(s, e);
    return status == OK ? machine_read(s, run_dir, e) : status;
}
