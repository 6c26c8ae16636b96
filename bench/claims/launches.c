/* Finds the launches (rows of raw.csv) behind a table cell, and the cell's value in each launch. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench/claims/tables.h"
#include "kernels/base/mem.h"

bool claim_has_text(const struct claim_table *table, size_t row, const char *column,
                    const char *text)
{
    const char *own = csv_table_text(claim_csv_of(table), row, column);
    return own != NULL && strcmp(own, text) == 0;
}

static enum status use(struct claim_need *need, const struct claim_table *raw, size_t row,
                       struct error *e)
{
    for (size_t i = 0; i < need->n_used; i++)
        if (need->used[i].raw == raw && need->used[i].row == row)
            return OK;
    TRY(MEM_GROW(need->used, need->n_used, "the launches of a claim", e));
    need->used[need->n_used++] = (struct claim_launch){raw, row};
    return OK;
}

/* Returns whether a row of raw.csv is a successful launch of `point` and kind `run` ("time" or
 * "accuracy"), with a number in `column` if raw.csv has this column. */
static bool is_launch(const struct claim_table *raw, size_t row, const char *point,
                      const char *column, const char *run)
{
    bool computed = csv_table_find(claim_csv_of(raw), column) < 0;
    return claim_has_text(raw, row, "point", point) && claim_has_text(raw, row, "run", run) &&
           claim_has_text(raw, row, "status", "ok") &&
           (computed || !isnan(csv_table_value(claim_csv_of(raw), row, column)));
}

/* Adds a point's timed launches that are evidence for `column` (is_launch) to need->used. If there
 * are none, adds the point's accuracy runs. Adds the number of launches found to *n. */
static enum status use_point(struct claim_need *need, size_t *n, const struct claim_table *raw,
                             const char *point, const char *column, struct error *e)
{
    static const char *const runs[] = {"time", "accuracy"};
    size_t before = *n;
    for (size_t k = 0; k < 2 && *n == before; k++)
        for (size_t row = 0; row < claim_csv_of(raw)->rows; row++)
            if (is_launch(raw, row, point, column, runs[k])) {
                ++*n;
                TRY(use(need, raw, row, e));
            }
    return OK;
}

static enum status use_launch(struct claim_need *need, size_t *n, const struct claim_table *raw,
                              const char *launch, struct error *e)
{
    for (size_t row = 0; row < claim_csv_of(raw)->rows; row++)
        if (claim_has_text(raw, row, "launch", launch)) {
            ++*n;
            return use(need, raw, row, e);
        }
    return OK;
}

enum status claim_use_cell(struct claim_need *need, size_t *n, const struct claim_table *raw,
                           const struct claim_value *value, struct error *e)
{
    const struct csv_table *table = claim_csv_of(value->table);
    const char *launch = "", *before = "";
    size_t of_base = 0;
    bool launches = csv_table_find(table, "launch") >= 0;
    for (size_t i = 0; i < value->n_found; i++, before = launch) {
        size_t row = value->found[i];
        const char *base = csv_table_text(table, row, "base_point");
        launch = launches ? csv_table_text(table, row, "launch") : "";
        if (launches && strcmp(launch, before) != 0)
            TRY(use_launch(need, n, raw, launch, e));
        if (!launches)
            TRY(use_point(need, n, raw, csv_table_text(table, row, "point"), value->column, e));
        if (!launches && check_is_relative(value->column) && base != NULL)
            TRY(use_point(need, &of_base, raw, base, value->column, e));
    }
    return OK;
}

/* ---- Samples ---- */

/* Fills the sample from the table that has the value: one number per launch, the median of the
 * launch's consecutive rows. `own`: scratch space for value->n_found numbers. */
static void sample_launches(struct claim_sample *s, double *own, const struct claim_value *value)
{
    const struct csv_table *table = claim_csv_of(value->table);
    for (size_t i = 0, rows; i < value->n_found; i += rows) {
        const char *launch = csv_table_text(table, value->found[i], "launch");
        for (rows = 0; i + rows < value->n_found &&
                       strcmp(csv_table_text(table, value->found[i + rows], "launch"), launch) == 0;
             rows++)
            own[rows] = csv_table_value(table, value->found[i + rows], value->column);
        s->launches[s->n] = launch;
        s->x[s->n++] = stats_median(own, rows);
    }
}

static void sample_point(struct claim_sample *s, const struct claim_need *launches,
                         const char *column)
{
    for (; s->n < launches->n_used; s->n++) {
        const struct claim_launch *own = &launches->used[s->n];
        s->launches[s->n] = csv_table_text(claim_csv_of(own->raw), own->row, "launch");
        s->x[s->n] = csv_table_value(claim_csv_of(own->raw), own->row, column);
    }
}

/* Finds in raw.csv the launches behind a claim's value. The value must come from a table without
 * column `launch`, such as summary.csv. Finds none if the run has no raw.csv, or if several rows
 * give the value, since they may belong to different points. */
static enum status find_launches(struct claim_need *launches, struct claims *c,
                                 const struct claim_value *value, struct error *e)
{
    const struct claim_table *raw;
    char name[256];
    size_t n = 0;
    snprintf(name, sizeof name, "%.200s/raw.csv", value->table->run->key);
    TRY(claim_tables_find(&raw, c, name, value->mark, e));
    return raw->there && value->n_found == 1 ? claim_use_cell(launches, &n, raw, value, e) : OK;
}

enum status claim_find_sample(struct claim_sample *s, struct claims *c,
                              const struct claim_value *value, struct error *e)
{
    struct claim_need launches = {.now = 0};
    bool own = csv_table_find(claim_csv_of(value->table), "launch") >= 0;
    *s = (struct claim_sample){.run = value->table->run};
    enum status status = own ? OK : find_launches(&launches, c, value, e);
    size_t room = 1 + (own ? value->n_found : launches.n_used);
    THEN(status, MEM_NEW(s->x, 2 * room, "a sample", e));
    THEN(status, MEM_NEW(s->launches, room, "a sample", e));
    if (status == OK && own)
        sample_launches(s, s->x + room, value);
    else if (status == OK)
        sample_point(s, &launches, value->column);
    free(launches.used);
    return status;
}
