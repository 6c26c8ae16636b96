#include "bench/collect/quantity.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench/collect/sheet.h"
#include "bench/collect/summary.h"
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

/* The columns of raw.csv that say which launch a number is of. */
struct raw_columns {
    size_t point, run, status, value;
};

static enum status find_columns(struct raw_columns *columns, const struct sheet *raw,
                                const struct quantity *quantity, struct error *e)
{
    enum status status = sheet_column(raw, "point", &columns->point, e);
    if (status == OK)
        status = sheet_column(raw, "run", &columns->run, e);
    if (status == OK)
        status = sheet_column(raw, "status", &columns->status, e);
    return status == OK ? sheet_column(raw, quantity->raw, &columns->value, e) : status;
}

/* Median over the launches of one point; `values` is room for a number of each launch. */
static enum status take_launches(struct measured *measured, const struct sheet *raw,
                                 const struct raw_columns *columns, const char *point,
                                 const char *run, double *values, struct error *e)
{
    size_t n = 0;
    enum status status = OK;
    for (size_t row = 0; row < raw->rows && status == OK; row++) {
        if (strcmp(sheet_cell(raw, row, columns->point), point) != 0 ||
            strcmp(sheet_cell(raw, row, columns->run), run) != 0 ||
            strcmp(sheet_cell(raw, row, columns->status), "ok") != 0)
            continue;
        status = sheet_number(raw, row, columns->value, &values[n], e);
        n += isfinite(values[n]);
    }
    *measured = measured_of(values, n);
    return status;
}

static enum status take_raw(struct measured *measured, const struct quantity *quantity,
                            const struct summary *s, const struct sheet *raw, struct error *e)
{
    const char *run = quantity->source == SOURCE_RUNS ? "accuracy" : "time";
    struct raw_columns columns;
    double *values = calloc(raw->rows + 1, sizeof *values);
    enum status status = values ? find_columns(&columns, raw, quantity, e)
                                : error_set(e, ERR_MEMORY, "no memory for %s", raw->path);
    for (size_t i = 0; i < s->n && status == OK; i++)
        status = take_launches(&measured[i], raw, &columns, s->points[i].cells[COLUMN_point], run,
                               values, e);
    free(values);
    return status;
}

enum status quantity_measure(struct measured *measured, const struct quantity *quantity,
                             const struct summary *s, const char *run_dir, struct error *e)
{
    char path[4096];
    struct sheet raw;
    if (quantity->source == SOURCE_POINTS) {
        take_points(measured, quantity, s);
        return OK;
    }
    snprintf(path, sizeof path, "%s/raw.csv", run_dir);
    enum status status = sheet_read(&raw, path, e);
    if (status == OK)
        status = take_raw(measured, quantity, s, &raw, e);
    sheet_free(&raw);
    return status;
}
