#include "bench/figures/quantity.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench/collect/summary.h"
#include "bench/record/csv_reader.h"
#include "bench/spec/value.h"
#include "kernels/base/mem.h"

static const struct quantity quantities[] = {
#define POINT_QUANTITY(name, title, most, column, unit, whole, lo, hi, relation)                   \
    {title, most,           SOURCE_POINTS, NULL,        COLUMN_##column,                           \
     unit,  COLUMN_##whole, COLUMN_##lo,   COLUMN_##hi, RELATION_##relation},
#define QUANTITY(name, title, most, source, raw, column)                                           \
    {title, most, SOURCE_##source, #raw, COLUMN_##column, 1, 0, 0, 0, RELATION_NONE},
#include "bench/spec/quantities.def"
};

const struct quantity *quantity_get(enum quantity_id id, const struct spec *spec)
{
    return &quantities[id == QUANTITY_chosen ? (enum quantity_id)config_int(&spec->config, OPT_BARS)
                                             : id];
}

struct measured measured_of(const double *values, size_t n)
{
    struct measured m = {stats_median_interval(values, n, SUMMARY_CONFIDENCE), n};
    if (n < 2)
        m.value.lo = m.value.hi = NAN;
    return m;
}

static struct interval point_interval(const struct point_summary *p, const struct quantity *q)
{
    double mid = q->unit * cell_number(p, q->column), scale = mid / cell_number(p, q->whole);
    return (struct interval){
        .lo = scale * cell_number(p, q->lo), .mid = mid, .hi = scale * cell_number(p, q->hi)};
}

static void take_points(struct measured *measured, const struct quantity *quantity,
                        const struct summary *s)
{
    for (size_t i = 0; i < s->n; i++) {
        measured[i].value = point_interval(&s->points[i], quantity);
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
    const struct csv_wanted columns[] = {
        {"point", &point}, {"run", &run}, {"status", &state}, {quantity->raw, &column}};
    enum status status = csv_table_columns(raw, columns, sizeof columns / sizeof *columns, e);
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
        while (first != NULL && first > values && by_point(first - 1, &wanted) == 0)
            first--;
        for (; first != NULL && first < values + n && by_point(first, &wanted) == 0; first++)
            room[known++] = first->value;
        measured[i] = measured_of(room, known);
    }
}

static enum status take_raw(struct measured *measured, const struct quantity *quantity,
                            const struct summary *s, const struct csv_table *raw, struct error *e)
{
    size_t n = 0;
    struct raw_value *values = NULL;
    double *room = NULL;
    enum status status = MEM_NEW(values, raw->rows, raw->path, e);
    THEN(status, MEM_NEW(room, raw->rows, raw->path, e));
    THEN(status, find_values(values, &n, raw, quantity, e));
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
    THEN(status, take_raw(measured, quantity, s, &raw, e));
    csv_table_free(&raw);
    return status;
}
