#include "bench/figures/quantity.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench/collect/summary.h"
#include "bench/record/csv_reader.h"
#include "bench/spec/value.h"

static const struct quantity quantities[] = {
#define QUANTITY(name, source, raw, column, most, title)                                           \
    {#name, SOURCE_##source, #raw, COLUMN_##column, most, title},
#include "bench/spec/quantities.def"
#undef QUANTITY
};

static const struct figure figures[] = {
#define FIGURE(name, kind, model, quantity, summary)                                               \
    {#name, FIGURE_##kind, model, QUANTITY_##quantity},
#include "bench/spec/figures.def"
#undef FIGURE
};

const struct figure *figure_get(const char *name)
{
    size_t i = 0;
    while (strcmp(figures[i].name, name) != 0)
        i++;
    return &figures[i];
}

const struct quantity *quantity_of_figure(const struct figure *figure, const struct spec *spec)
{
    if (figure->quantity == QUANTITY_chosen)
        return &quantities[config_int(&spec->config, OPT_BARS)];
    return &quantities[figure->quantity];
}

struct measured measured_of(const double *values, size_t n)
{
    struct measured m = {stats_median_interval(values, n, SUMMARY_CONFIDENCE), n};
    if (n < 2)
        m.value.lo = m.value.hi = NAN;
    return m;
}

double cell_number(const struct point_summary *p, enum column_id column)
{
    double x;
    return number_parse(p->cells[column], &x) ? x : NAN;
}

/* Efficiency scales as the speed-up does, and is shown in per cent. */
static struct interval point_interval(const struct point_summary *p, enum column_id column)
{
    if (column == COLUMN_step_ms_median)
        return (struct interval){.lo = cell_number(p, COLUMN_step_ms_lo),
                                 .mid = cell_number(p, COLUMN_step_ms_median),
                                 .hi = cell_number(p, COLUMN_step_ms_hi)};
    double mid = cell_number(p, column);
    double scale = column == COLUMN_efficiency ? 100 * mid / cell_number(p, COLUMN_speedup) : 1;
    return (struct interval){.lo = scale * cell_number(p, COLUMN_speedup_lo),
                             .mid = column == COLUMN_efficiency ? 100 * mid : mid,
                             .hi = scale * cell_number(p, COLUMN_speedup_hi)};
}

static void take_points(struct measured *measured, const struct quantity *quantity,
                        const struct summary *s)
{
    for (size_t i = 0; i < s->n; i++) {
        measured[i].value = point_interval(&s->points[i], quantity->column);
        measured[i].n = s->points[i].launches;
    }
}

/* What raw.csv says of one launch that counts. */
struct raw_value {
    const char *point;
    double value;
};

static int by_point(const void *a, const void *b)
{
    return strcmp(((const struct raw_value *)a)->point, ((const struct raw_value *)b)->point);
}

/* Those that are known, sorted by point. */
static enum status find_values(struct raw_value *values, size_t *n, const struct csv_table *raw,
                               const struct quantity *quantity, struct error *e)
{
    const char *wanted = quantity->source == SOURCE_RUNS ? "accuracy" : "time";
    size_t point, run, state, column;
    enum status status = csv_table_column(raw, "point", &point, e);
    if (status == OK)
        status = csv_table_column(raw, "run", &run, e);
    if (status == OK)
        status = csv_table_column(raw, "status", &state, e);
    if (status == OK)
        status = csv_table_column(raw, quantity->raw, &column, e);
    *n = 0;
    for (size_t row = 0; row < raw->rows && status == OK; row++) {
        if (strcmp(csv_table_cell(raw, row, run), wanted) != 0 ||
            strcmp(csv_table_cell(raw, row, state), "ok") != 0)
            continue;
        values[*n].point = csv_table_cell(raw, row, point);
        status = csv_table_number(raw, row, column, &values[*n].value, e);
        *n += isfinite(values[*n].value);
    }
    qsort(values, *n, sizeof *values, by_point);
    return status;
}

/* Median over the launches of each point; `room` is for a number of each launch. */
static void take_values(struct measured *measured, const struct summary *s,
                        const struct raw_value *values, size_t n, double *room)
{
    for (size_t i = 0; i < s->n; i++) {
        const struct raw_value wanted = {.point = s->points[i].cells[COLUMN_point]};
        const struct raw_value *first = bsearch(&wanted, values, n, sizeof wanted, by_point);
        size_t known = 0;
        while (first && first > values && by_point(first - 1, &wanted) == 0)
            first--;
        for (; first && first < values + n && by_point(first, &wanted) == 0; first++)
            room[known++] = first->value;
        measured[i] = measured_of(room, known);
    }
}

static enum status take_raw(struct measured *measured, const struct quantity *quantity,
                            const struct summary *s, const struct csv_table *raw, struct error *e)
{
    size_t n = 0;
    struct raw_value *values = calloc(raw->rows + 1, sizeof *values);
    double *room = calloc(raw->rows + 1, sizeof *room);
    enum status status = values && room ? find_values(values, &n, raw, quantity, e)
                                        : error_set(e, ERR_MEMORY, "no memory for %s", raw->path);
    if (status == OK)
        take_values(measured, s, values, n, room);
    free(values);
    free(room);
    return status;
}

enum status quantity_measure(struct measured *measured, const struct quantity *quantity,
                             const struct summary *s, const char *run_dir, struct error *e)
{
    char path[4096];
    struct csv_table raw;
    if (quantity->source == SOURCE_POINTS) {
        take_points(measured, quantity, s);
        return OK;
    }
    snprintf(path, sizeof path, "%s/raw.csv", run_dir);
    enum status status = csv_table_read(&raw, path, e);
    if (status == OK)
        status = take_raw(measured, quantity, s, &raw, e);
    csv_table_free(&raw);
    return status;
}
