#include "bench/figures/dots.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench/collect/summary.h"
#include "bench/record/csv_reader.h"
#include "kernels/base/mem.h"

/* A launch that counts. */
struct dot {
    const char *point, *launch;
    double block, seed;
    double value;  /* of the column of raw.csv; of ratios the time of a step */
    double images; /* in a step */
};

struct launches {
    struct csv_table raw;
    struct dot *items; /* by point and block */
    size_t n;
};

static bool is_ratio(const struct quantity *q)
{
    return q->relation == RELATION_SPEEDUP || q->relation == RELATION_EFFICIENCY;
}

/* The column of raw.csv behind the quantity; NULL where there is none. */
static const char *raw_column(const struct quantity *q)
{
    if (q->source != SOURCE_POINTS)
        return q->raw;
    return q->relation != RELATION_NONE ? "step_ms" : NULL;
}

bool dots_exist(const struct figure_data *d)
{
    return d->figure->shape->dots && raw_column(d->quantity) != NULL;
}

/* ---- The launches ---- */

static int by_point(const void *a, const void *b)
{
    return strcmp(((const struct dot *)a)->point, ((const struct dot *)b)->point);
}

static int by_launch(const void *a, const void *b)
{
    const struct dot *x = a, *y = b;
    int order = by_point(a, b);
    if (order == 0)
        order = (x->block > y->block) - (x->block < y->block);
    return order ? order : strcmp(x->launch, y->launch);
}

enum { POINT, LAUNCH, RUN, STATUS, BLOCK, SEED, VALUE, IMAGES, WANTED };

static enum status take_row(struct dot *dot, const struct csv_table *raw, size_t row,
                            const size_t *at, struct error *e)
{
    dot->point = csv_table_cell(raw, row, at[POINT]);
    dot->launch = csv_table_cell(raw, row, at[LAUNCH]);
    TRY(csv_table_number(raw, row, at[BLOCK], &dot->block, e));
    TRY(csv_table_number(raw, row, at[SEED], &dot->seed, e));
    TRY(csv_table_number(raw, row, at[IMAGES], &dot->images, e));
    return csv_table_number(raw, row, at[VALUE], &dot->value, e);
}

/* A launch may have a row for each of several cases that share it. */
static void drop_copies(struct launches *l)
{
    size_t n = 0;
    for (size_t i = 0; i < l->n; i++)
        if (i == 0 || by_launch(&l->items[i], &l->items[i - 1]) != 0)
            l->items[n++] = l->items[i];
    l->n = n;
}

static enum status take_rows(struct launches *l, const struct quantity *q, struct error *e)
{
    const char *run = q->source == SOURCE_RUNS ? "accuracy" : "time";
    size_t at[WANTED];
    const struct csv_wanted wanted[WANTED] = {
        {"point", &at[POINT]},       {"launch", &at[LAUNCH]},      {"run", &at[RUN]},
        {"status", &at[STATUS]},     {"block", &at[BLOCK]},        {"seed", &at[SEED]},
        {raw_column(q), &at[VALUE]}, {"global_batch", &at[IMAGES]}};
    TRY(csv_table_columns(&l->raw, wanted, WANTED, e));
    TRY(MEM_NEW(l->items, l->raw.rows, l->raw.path, e));
    for (size_t row = 0; row < l->raw.rows; row++) {
        if (strcmp(csv_table_cell(&l->raw, row, at[RUN]), run) != 0 ||
            strcmp(csv_table_cell(&l->raw, row, at[STATUS]), "ok") != 0)
            continue;
        TRY(take_row(&l->items[l->n], &l->raw, row, at, e));
        l->n += isfinite(l->items[l->n].value);
    }
    qsort(l->items, l->n, sizeof *l->items, by_launch);
    drop_copies(l);
    return OK;
}

static enum status read_launches(struct launches *l, const struct figure_data *d, const char *dir,
                                 struct error *e)
{
    char path[4200];
    snprintf(path, sizeof path, "%s/raw.csv", dir);
    if (access(path, F_OK) != 0)
        return OK;
    TRY(csv_table_read(&l->raw, path, e));
    return take_rows(l, d->quantity, e);
}

/* Of the run that the point is of. */
static const struct launches *launches_of(const struct launches *runs, const struct figure_data *d,
                                          size_t point)
{
    size_t i = 0;
    while (point >= d->runs[i].first + d->runs[i].n)
        i++;
    return &runs[i];
}

/* Those of a point, *n of them. */
static const struct dot *find_dots(const struct launches *l, const struct point_summary *p,
                                   size_t *n)
{
    const struct dot wanted = {.point = p->cells[COLUMN_point]};
    const struct dot *end = l->items + l->n;
    const struct dot *first =
        l->n > 0 ? bsearch(&wanted, l->items, l->n, sizeof wanted, by_point) : NULL;
    *n = 0;
    if (first == NULL)
        return NULL;
    while (first > l->items && by_point(first - 1, &wanted) == 0)
        first--;
    while (first + *n < end && by_point(first + *n, &wanted) == 0)
        (*n)++;
    return first;
}

/* ---- Their values ---- */

/* Images per second over those of the base's launch in the same block. */
static double ratio_to_base(const struct launches *l, const struct point_summary *base,
                            const struct dot *dot)
{
    size_t n;
    const struct dot *other = find_dots(l, base, &n);
    for (size_t i = 0; i < n; i++)
        if (other[i].block == dot->block)
            return dot->images / dot->value * other[i].value / other[i].images;
    return NAN;
}

static double value_of(const struct figure_data *d, const struct launches *l, size_t point,
                       const struct dot *dot)
{
    const struct point_summary *p = &d->s->points[point], *base = &d->s->points[p->base];
    if (!is_ratio(d->quantity))
        return dot->value;
    double ratio = p == base ? NAN : ratio_to_base(l, base, dot);
    return d->quantity->relation == RELATION_SPEEDUP ? ratio : 100 * ratio * base->cores / p->cores;
}

/* ---- Rows ---- */

/* Nothing of a point without a value: what was withheld there is not shown here. */
static void write_point(FILE *out, struct figure_data *d, const struct launches *runs, size_t curve,
                        const char *name, size_t point)
{
    const struct point_summary *p = &d->s->points[point];
    const struct launches *l = launches_of(runs, d, point);
    size_t n;
    const struct dot *dots = find_dots(l, p, &n);
    if (!isfinite(d->measured[point].value.mid))
        return;
    for (size_t i = 0; i < n; i++) {
        double value = value_of(d, l, point, &dots[i]);
        if (!isfinite(value))
            continue;
        fprintf(out, curve > 0 ? "%zu," : ",", curve);
        text_write_field(out, name);
        fprintf(out, ",%s,", p->cells[COLUMN_point]);
        text_write_field(out, p->point->label);
        fprintf(out, ",%ld", config_int(&p->point->config, OPT_RANKS));
        figure_write_number(out, dots[i].block);
        figure_write_number(out, dots[i].seed);
        fprintf(out, ",%zu,%zu", i + 1, n);
        figure_write_number(out, value);
        fputc('\n', out);
        d->dots += curve > 0;
    }
}

static void write_curves(FILE *out, struct figure_data *d, const struct launches *runs)
{
    for (size_t k = 0; k < d->series.n; k++)
        for (size_t i = 0; i < d->series.items[k].n; i++)
            write_point(out, d, runs, k < d->curves ? k + 1 : 0, d->series.items[k].name,
                        d->series.items[k].points[i]);
}

static void write_bars(FILE *out, struct figure_data *d, const struct launches *runs)
{
    size_t row = 0;
    for (size_t i = 0; i < d->s->n; i++)
        if (figure_data_has_bar(d, i))
            write_point(out, d, runs, d->bars[i] ? ++row : 0, d->s->points[i].point->label, i);
}

enum status dots_write(FILE *out, struct figure_data *d, struct error *e)
{
    struct launches *runs;
    enum status status = MEM_NEW(runs, d->n_runs, "the launches of a figure", e);
    for (size_t i = 0; i < d->n_runs && status == OK; i++)
        status = read_launches(&runs[i], d, d->runs[i].dir, e);
    d->dots = 0;
    fputs("curve,name,point,label,ranks,block,seed,nth,n,value\n", out);
    if (status == OK && d->figure->shape->bars)
        write_bars(out, d, runs);
    else if (status == OK)
        write_curves(out, d, runs);
    for (size_t i = 0; i < d->n_runs && runs != NULL; i++) {
        free(runs[i].items);
        csv_table_free(&runs[i].raw);
    }
    free(runs);
    return status;
}
