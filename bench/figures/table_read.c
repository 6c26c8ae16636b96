/* Reads CSV files of runs into the rows of a figure's table. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench/collect/summary.h"
#include "bench/figures/figure_data.h"
#include "bench/record/csv_reader.h"
#include "bench/spec/value.h"
#include "kernels/base/mem.h"
#include "kernels/base/names.h"
#include "kernels/base/text.h"

struct row_sample {
    size_t series, point;
    double x, value;
    const char *launch; /* name of the launch, borrowed from the table */
    bool timed;
};

/* State of reading one quantity from one CSV file, for the points of one run. */
struct gathering {
    struct figure_data *d;
    const struct quantity *q;
    const struct figure_run *run;
    size_t k;      /* index of the quantity in option y */
    bool by_point; /* whether rows are combined into one value per point; false: one value per
                      series and x */
    /* `table`: CSV file with the quantity; `raw`: raw.csv if diverged launches are read from it,
     * otherwise empty */
    struct csv_table table, raw;
    const char **diverged; /* [n_diverged] names of diverged launches, which no median includes */
    size_t n_diverged;
    /* indices of columns in the file; -1: the file has no such column */
    int point, launch, timed, of_case, x;
    int kind; /* index of the column that separates rows into curves, such as metric; -1: none */
    /* two different texts of column `kind`, borrowed from the table; NULL: not found */
    const char *first_kind, *other_kind;
    size_t values[QUANTITY_TERMS_MAX]; /* indices of the columns whose sum is the value */
    bool by_model;        /* whether rows name a network, not a point; points of one network share
                             rows */
    size_t row, of_point; /* indices of the current row and its point */
    struct row_sample *samples;
    size_t n;
    double *room;
};

/* ---- Conditions ---- */

/* By default, only rows with status ok and timed 1 (steps after the warm-up) are used. If `where`
 * names one of these columns, the default for that column does not apply. */
static const struct {
    const char *column, *text;
} counting[] = {{"status", "ok"}, {"timed", "1"}};

bool figure_where_names(const struct figure_data *d, const char *name)
{
    size_t n = 0;
    const struct condition_term *terms = d->where != NULL ? condition_terms(d->where, &n) : NULL;
    for (size_t i = 0; i < n; i++)
        if (strcmp(terms[i].name, name) == 0)
            return true;
    return false;
}

static bool row_counts(const struct gathering *g)
{
    for (size_t i = 0; i < sizeof counting / sizeof *counting; i++) {
        int column = csv_table_find(&g->table, counting[i].column);
        if (column >= 0 && !figure_where_names(g->d, counting[i].column) &&
            strcmp(csv_table_cell(&g->table, g->row, (size_t)column), counting[i].text) != 0)
            return false;
    }
    for (size_t i = 0; i < g->n_diverged; i++)
        if (strcmp(csv_table_cell(&g->table, g->row, (size_t)g->launch), g->diverged[i]) == 0)
            return false;
    return true;
}

/* Finds diverged launches in raw.csv, for files such as steps.csv that have no column `status`. */
static enum status find_diverged(struct gathering *g, struct error *e)
{
    char path[4200];
    size_t launch, state;
    const struct csv_wanted wanted[] = {{"launch", &launch}, {"status", &state}};
    snprintf(path, sizeof path, "%s/raw.csv", g->run->dir);
    if (g->launch < 0 || csv_table_find(&g->table, "status") >= 0 ||
        figure_where_names(g->d, "status") || access(path, F_OK) != 0)
        return OK;
    TRY(csv_table_read(&g->raw, path, e));
    TRY(csv_table_columns(&g->raw, wanted, sizeof wanted / sizeof *wanted, e));
    TRY(MEM_NEW(g->diverged, g->raw.rows, "a figure", e));
    for (size_t row = 0; row < g->raw.rows; row++)
        if (strcmp(csv_table_cell(&g->raw, row, state), "diverged") == 0)
            g->diverged[g->n_diverged++] = csv_table_cell(&g->raw, row, launch);
    return OK;
}

/* Looks up `name` in the current row, or in the row's point if the table has no such column. Two
 * kinds of names are always looked up in the point: names such as case (figure_is_of_points),
 * because several cases can share a row, and options with a dot in their name, because a cell has
 * only an option's text. Returns false if `name` is not found. */
static bool look_up(struct condition_value *value, const char *name, const void *arg)
{
    const struct gathering *g = arg;
    const struct csv_table *table = &g->table;
    const struct figure_data *d = g->d;
    int column = csv_table_find(table, name);
    bool option = strchr(name, '.') != NULL && config_option_find(&d->spec->config, name) != NULL;
    if (column < 0 || option || figure_is_of_points(d, name))
        return figure_point_value(value, name, &d->s->points[g->of_point]);
    *value = condition_value_of(csv_table_cell(table, g->row, (size_t)column));
    return true;
}

/* ---- Series ---- */

/* Appends a column's name and its text in the current row to a series' name, such as "metric
 * time_ms". */
static void extend_name(struct table_series *own, const struct gathering *g, const char *name,
                        int column)
{
    text_join(own->name, sizeof own->name, ", ", name);
    text_join(own->name, sizeof own->name, " ", csv_table_cell(&g->table, g->row, (size_t)column));
}

/* Sets *series to the index of the current row's series, and adds the series if it is new. Rows of
 * one point belong to different series if they differ in column g->kind, or in a table column that
 * is listed in option `series`. */
static enum status series_of_row(size_t *series, struct gathering *g, size_t point, struct error *e)
{
    struct figure_data *d = g->d;
    const struct value *wanted = &d->figure->request->options[FIGURE_SERIES];
    struct table_series own = {.point = point, .base = d->series_of[point]};
    *series = own.base;
    snprintf(own.name, sizeof own.name, "%s", d->table.series[own.base].name);
    size_t base_length = strlen(own.name);
    for (size_t i = 0; i < wanted->n; i++) {
        bool of_points = config_option_find(&d->spec->config, wanted->texts[i]) != NULL ||
                         figure_is_of_points(d, wanted->texts[i]) ||
                         strcmp(wanted->texts[i], FIGURE_POINT) == 0;
        int column = of_points ? -1 : csv_table_find(&g->table, wanted->texts[i]);
        if (column >= 0 && column != g->kind)
            extend_name(&own, g, wanted->texts[i], column);
    }
    if (g->kind >= 0)
        extend_name(&own, g, g->table.names[g->kind], g->kind);
    if (strlen(own.name) == base_length)
        return OK;
    for (*series = 0; *series < d->table.n_series; ++*series)
        if (d->table.series[*series].base == own.base &&
            strcmp(d->table.series[*series].name, own.name) == 0)
            return OK;
    return table_add_series(&d->table, &own, e);
}

/* ---- Samples ---- */

/* Reads a number. NaN and Inf, which diverged training writes, are taken as missing. */
static enum status read_term(double *term, const struct gathering *g, size_t column,
                             struct error *e)
{
    static const char *const none[] = {"NaN", "Inf", "-Inf"};
    *term = NAN;
    if (name_index(csv_table_cell(&g->table, g->row, column), none, sizeof none / sizeof *none) >=
        0)
        return OK;
    return csv_table_number(&g->table, g->row, column, term, e);
}

/* Callback that reads the current row g->row as a row of point g->of_point. */
typedef enum status take_row(struct gathering *g, struct error *e);

static bool is_shown(const struct gathering *g)
{
    size_t stands_for = g->d->stands_for[g->of_point];
    return stands_for != NO_POINT && (g->by_point || g->d->series_of[stands_for] != NO_POINT) &&
           (g->d->where == NULL || condition_holds(g->d->where, look_up, g));
}

static enum status note_kind(struct gathering *g, struct error *e)
{
    const char *kind = csv_table_cell(&g->table, g->row, (size_t)g->kind);
    if (!is_shown(g))
        return OK;
    if (g->first_kind == NULL)
        g->first_kind = kind;
    else if (strcmp(g->first_kind, kind) != 0)
        g->other_kind = kind;
    return OK;
}

static enum status take_value(double *value, const struct gathering *g, struct error *e)
{
    *value = 0;
    for (size_t k = 0; k <= g->q->n_added; k++) {
        double term;
        TRY(read_term(&term, g, g->values[k], e));
        *value += term;
    }
    return OK;
}

static enum status take_sample(struct gathering *g, struct error *e)
{
    struct figure_data *d = g->d;
    size_t stands_for = d->stands_for[g->of_point];
    struct row_sample sample = {.point = stands_for};
    TRY(take_value(&sample.value, g, e));
    if (!isfinite(sample.value) || !is_shown(g))
        return OK;
    if (g->launch >= 0)
        sample.launch = csv_table_cell(&g->table, g->row, (size_t)g->launch);
    if (g->timed >= 0)
        sample.timed = strcmp(csv_table_cell(&g->table, g->row, (size_t)g->timed), "time") == 0;
    if (!g->by_point) {
        TRY(series_of_row(&sample.series, g, stands_for, e));
        TRY(g->x >= 0 ? table_x_of_text(&sample.x, &d->table,
                                        csv_table_cell(&g->table, g->row, (size_t)g->x), e)
                      : table_x_of_point(&sample.x, d, g->of_point, e));
    }
    if (!isfinite(sample.x))
        return OK;
    TRY(MEM_GROW(g->samples, g->n, "a figure", e));
    g->samples[g->n++] = sample;
    return OK;
}

/* Returns the text by which rows identify a point: its identity, or its network's name. */
static const char *name_of(const struct gathering *g, size_t point)
{
    const struct point_summary *p = &g->d->s->points[point];
    const struct spec_input *net = p->point->net;
    return !g->by_model ? p->cells[COLUMN_point] : net != NULL ? net->net.name : "";
}

/* Orders points by the text that identifies them in rows, then by index. Texts can be equal, since
 * points can share launches or a network. */
static int by_identity(const void *a, const void *b, void *gathering)
{
    size_t x = *(const size_t *)a, y = *(const size_t *)b;
    int order = strcmp(name_of(gathering, x), name_of(gathering, y));
    return order ? order : (x > y) - (x < y);
}

static size_t first_of(const struct gathering *g, const size_t *order, size_t n, const char *id)
{
    size_t low = 0, high = n;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (strcmp(name_of(g, order[middle]), id) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Returns whether the current row belongs to point g->of_point. A row of a launch belongs to every
 * case that shares the launch. */
static bool is_row_of(const struct gathering *g)
{
    return g->launch >= 0 || g->of_case < 0 ||
           strcmp(csv_table_cell(&g->table, g->row, (size_t)g->of_case),
                  g->d->s->points[g->of_point].point->case_name) == 0;
}

static enum status for_each_row(struct gathering *g, const size_t *order, take_row *take,
                                struct error *e)
{
    size_t n = g->run->n;
    for (g->row = 0; g->row < g->table.rows; g->row++) {
        const char *id = csv_table_cell(&g->table, g->row, (size_t)g->point);
        if (!row_counts(g))
            continue;
        for (size_t i = first_of(g, order, n, id); i < n && strcmp(name_of(g, order[i]), id) == 0;
             i++) {
            g->of_point = order[i];
            if (is_row_of(g))
                TRY(take(g, e));
        }
    }
    return OK;
}

/* Sets g->kind to the column with the kind of a row, such as `metric`. Each kind then gets its own
 * curve. g->kind is -1 if there is only one kind or the kind is on the x axis. ERR_SPEC if there
 * are several kinds but each point can have only one value. */
static enum status tell_kinds_apart(struct gathering *g, const size_t *order, struct error *e)
{
    const char *kind = csv_file_kind(g->q->file);
    const struct value *y = &g->d->figure->request->options[FIGURE_Y];
    g->kind = kind[0] ? csv_table_find(&g->table, kind) : -1;
    if (g->kind >= 0 && g->kind != g->x)
        TRY(for_each_row(g, order, note_kind, e));
    if (g->other_kind != NULL && g->by_point)
        return mark_error(e, ERR_SPEC, y->mark,
                          "figures: y = %s would average rows of %s for %s and %s. Use where: "
                          "\"%s = %s\" to select one of them",
                          g->q->raw, g->q->file, g->first_kind, g->other_kind, kind, g->first_kind);
    g->kind = g->other_kind != NULL ? g->kind : -1;
    return OK;
}

static enum status take_rows(struct gathering *g, size_t *order, struct error *e)
{
    for (size_t i = 0; i < g->run->n; i++)
        order[i] = g->run->first + i;
    qsort_r(order, g->run->n, sizeof *order, by_identity, g);
    TRY(tell_kinds_apart(g, order, e));
    return for_each_row(g, order, take_sample, e);
}

/* Drops samples of accuracy runs if timed launches have samples too. Exception: if a figure of one
 * run has the name `run` (kind of launch) in its option `where`, both kinds of samples are kept. */
static void choose_launches(struct gathering *g)
{
    size_t timed = 0;
    if (!g->d->several && figure_where_names(g->d, FIGURE_RUN))
        return;
    for (size_t i = 0; i < g->n; i++)
        if (g->samples[i].timed)
            g->samples[timed++] = g->samples[i];
    g->n = timed > 0 ? timed : g->n;
}

static int by_sample(const void *a, const void *b)
{
    const struct row_sample *x = a, *y = b;
    if (x->series != y->series)
        return x->series < y->series ? -1 : 1;
    if (x->point != y->point)
        return x->point < y->point ? -1 : 1;
    if (x->x != y->x)
        return x->x < y->x ? -1 : 1;
    return x->launch != NULL && y->launch != NULL ? strcmp(x->launch, y->launch) : 0;
}

static bool same_place(const struct row_sample *a, const struct row_sample *b)
{
    return a->series == b->series && a->point == b->point && a->x == b->x;
}

/* Returns the median of n samples of one series at one x, with its interval. Samples of the same
 * launch are averaged first. */
static struct measured measure(const struct gathering *g, const struct row_sample *samples,
                               size_t n)
{
    size_t launches = 0;
    for (size_t i = 0, same; i < n; i += same) {
        double sum = 0;
        for (same = 0; i + same < n && by_sample(&samples[i], &samples[i + same]) == 0 &&
                       (same == 0 || samples[i].launch != NULL);
             same++)
            sum += samples[i + same].value;
        g->room[launches++] = sum / (double)same;
    }
    return measured_of(g->room, launches);
}

static enum status take_places(struct gathering *g, struct error *e)
{
    struct figure_data *d = g->d;
    TRY(MEM_NEW(g->room, g->n, "a figure", e));
    if (g->n > 0)
        qsort(g->samples, g->n, sizeof *g->samples, by_sample);
    for (size_t i = 0, n; i < g->n; i += n) {
        const struct row_sample *first = &g->samples[i];
        for (n = 1; i + n < g->n && same_place(first, &g->samples[i + n]); n++) {
        }
        struct measured m = measure(g, first, n);
        if (g->by_point) {
            d->measured[first->point] = m;
            continue;
        }
        struct table_row row = table_empty_row(first->series, first->point, first->x);
        row.values[g->k] = m;
        for (size_t launch = 0; launch < m.n && m.n > 1; launch++)
            TRY(table_add_dot(&d->table, &row.dots[g->k], g->room[launch], e));
        TRY(table_add_row(&d->table, &row, e));
    }
    return OK;
}

static enum status gather_rows(struct gathering *g, struct error *e)
{
    size_t point, *order;
    g->by_model = csv_table_find(&g->table, "point") < 0;
    struct csv_wanted wanted[1 + QUANTITY_TERMS_MAX] = {{g->by_model ? "model" : "point", &point},
                                                        {g->q->raw, &g->values[0]}};
    for (size_t k = 0; k < g->q->n_added; k++)
        wanted[2 + k] = (struct csv_wanted){g->q->added[k], &g->values[1 + k]};
    TRY(csv_table_columns(&g->table, wanted, 2 + g->q->n_added, e));
    g->point = (int)point;
    g->launch = csv_table_find(&g->table, "launch");
    g->timed = csv_table_find(&g->table, "run");
    g->of_case = csv_table_find(&g->table, FIGURE_CASE);
    g->x = g->d->x.by_column ? csv_table_find(&g->table, g->d->x.name) : -1;
    TRY(find_diverged(g, e));
    TRY(MEM_NEW(order, g->run->n, "a figure", e));
    enum status status = take_rows(g, order, e);
    free(order);
    if (status == OK)
        choose_launches(g);
    THEN(status, take_places(g, e));
    return status;
}

static enum status gather(struct figure_data *d, size_t k, bool by_point, struct error *e)
{
    enum status status = OK;
    for (size_t i = 0; i < d->n_runs && status == OK; i++) {
        struct gathering g = {
            .d = d, .q = &d->quantities[k], .run = &d->runs[i], .k = k, .by_point = by_point};
        char path[4200];
        snprintf(path, sizeof path, "%s/%s", d->runs[i].dir, g.q->file);
        status = csv_table_read(&g.table, path, e);
        THEN(status, gather_rows(&g, e));
        free(g.samples);
        free(g.room);
        free(g.diverged);
        csv_table_free(&g.table);
        csv_table_free(&g.raw);
    }
    return status;
}

enum status table_measure(struct figure_data *d, struct error *e)
{
    for (size_t i = 0; i < d->s->n; i++)
        d->measured[i].value = (struct interval){.lo = NAN, .mid = NAN, .hi = NAN};
    return gather(d, 0, true, e);
}

enum status table_gather(struct figure_data *d, size_t k, struct error *e)
{
    return gather(d, k, false, e);
}
