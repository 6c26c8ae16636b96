#include "bench/figures/launches.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench/collect/summary.h"
#include "bench/record/csv_reader.h"
#include "kernels/base/mem.h"

/* One run's. */
struct table_of_run {
    struct csv_table raw;
    struct launch_value *items; /* by point and block */
    size_t n;
};

struct launches {
    const struct figure_data *d;
    const struct quantity *q;
    struct table_of_run *runs; /* one a run of the figure */
    double *room;              /* for a number of each launch */
};

static bool is_ratio(const struct quantity *q)
{
    return q->relation == RELATION_SPEEDUP || q->relation == RELATION_EFFICIENCY;
}

/* The column of raw.csv behind the quantity; NULL where there is none. */
static const char *raw_column(const struct quantity *q)
{
    if (q->source != SOURCE_POINTS)
        return q->n_added == 0 ? q->raw : NULL;
    if (q->relation == RELATION_CALLS)
        return q->name;
    return q->relation != RELATION_NONE ? "step_ms" : NULL;
}

bool launches_have(const struct quantity *q)
{
    return raw_column(q) != NULL;
}

/* ---- The launches ---- */

static int by_point(const void *a, const void *b)
{
    return strcmp(((const struct launch_value *)a)->point, ((const struct launch_value *)b)->point);
}

static int by_launch(const void *a, const void *b)
{
    const struct launch_value *x = a, *y = b;
    int order = by_point(a, b);
    if (order == 0)
        order = (x->block > y->block) - (x->block < y->block);
    return order ? order : strcmp(x->launch, y->launch);
}

enum { POINT, LAUNCH, RUN, STATUS, BLOCK, SEED, VALUE, IMAGES, WANTED };

static enum status take_row(struct launch_value *own, const struct csv_table *raw, size_t row,
                            const size_t *at, bool diverged, struct error *e)
{
    own->value = NAN;
    own->point = csv_table_cell(raw, row, at[POINT]);
    own->launch = csv_table_cell(raw, row, at[LAUNCH]);
    TRY(csv_table_number(raw, row, at[BLOCK], &own->block, e));
    TRY(csv_table_number(raw, row, at[SEED], &own->seed, e));
    TRY(csv_table_number(raw, row, at[IMAGES], &own->images, e));
    return diverged ? OK : csv_table_number(raw, row, at[VALUE], &own->value, e);
}

/* A launch may have a row for each of several cases that share it. */
static void drop_copies(struct table_of_run *l)
{
    size_t n = 0;
    for (size_t i = 0; i < l->n; i++)
        if (i == 0 || by_launch(&l->items[i], &l->items[i - 1]) != 0)
            l->items[n++] = l->items[i];
    l->n = n;
}

static enum status take_rows(struct table_of_run *l, const struct quantity *q, struct error *e)
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
        const char *status = csv_table_cell(&l->raw, row, at[STATUS]);
        bool diverged = q->complete && strcmp(status, "diverged") == 0;
        if (strcmp(csv_table_cell(&l->raw, row, at[RUN]), run) != 0 ||
            (strcmp(status, "ok") != 0 && !diverged))
            continue;
        struct launch_value *own = &l->items[l->n];
        TRY(take_row(own, &l->raw, row, at, diverged, e));
        l->n += isfinite(own->value) || q->complete;
    }
    qsort(l->items, l->n, sizeof *l->items, by_launch);
    drop_copies(l);
    return OK;
}

static enum status read_run(struct table_of_run *l, const struct quantity *q, const char *dir,
                            struct error *e)
{
    char path[4200];
    snprintf(path, sizeof path, "%s/raw.csv", dir);
    if (q->source == SOURCE_POINTS && access(path, F_OK) != 0)
        return OK;
    TRY(csv_table_read(&l->raw, path, e));
    return take_rows(l, q, e);
}

enum status launches_read(struct launches **launches, const struct figure_data *d,
                          const struct quantity *q, struct error *e)
{
    TRY(MEM_NEW(*launches, 1, "the launches of a figure", e));
    struct launches *l = *launches;
    *l = (struct launches){.d = d, .q = q};
    TRY(MEM_NEW(l->runs, d->n_runs, "the launches of a figure", e));
    size_t n = 0;
    for (size_t i = 0; i < d->n_runs; i++) {
        TRY(read_run(&l->runs[i], q, d->runs[i].dir, e));
        n += l->runs[i].n;
    }
    return MEM_NEW(l->room, n, "the launches of a figure", e);
}

void launches_free(struct launches *l)
{
    for (size_t i = 0; l != NULL && l->runs != NULL && i < l->d->n_runs; i++) {
        free(l->runs[i].items);
        csv_table_free(&l->runs[i].raw);
    }
    if (l != NULL) {
        free(l->runs);
        free(l->room);
    }
    free(l);
}

/* ---- Those of a point ---- */

static const struct table_of_run *run_of(const struct launches *l, size_t point)
{
    size_t i = 0;
    while (point >= l->d->runs[i].first + l->d->runs[i].n)
        i++;
    return &l->runs[i];
}

const struct launch_value *launches_of(const struct launches *l, size_t point, size_t *n)
{
    const struct table_of_run *run = run_of(l, point);
    const struct launch_value wanted = {.point = l->d->s->points[point].cells[COLUMN_point]};
    const struct launch_value *end = run->items + run->n;
    const struct launch_value *first =
        run->n > 0 ? bsearch(&wanted, run->items, run->n, sizeof wanted, by_point) : NULL;
    *n = 0;
    if (first == NULL)
        return NULL;
    while (first > run->items && by_point(first - 1, &wanted) == 0)
        first--;
    while (first + *n < end && by_point(first + *n, &wanted) == 0)
        (*n)++;
    return first;
}

void launches_measure(struct figure_data *d, const struct launches *l)
{
    for (size_t i = 0; i < d->s->n; i++) {
        size_t n;
        bool complete = true;
        const struct launch_value *own = launches_of(l, i, &n);
        for (size_t k = 0; k < n; k++) {
            l->room[k] = own[k].value;
            complete = complete && isfinite(own[k].value);
        }
        d->measured[i] = measured_of(l->room, complete ? n : 0);
    }
}

/* What it has done in its time: images, of a program that is not ours as much as its speed-ups are of. */
static double work_rate(const struct launches *l, size_t point, const struct launch_value *launch)
{
    const struct summary *s = l->d->s;
    return point_work(s->spec, s->points[point].point, launch->images) / launch->value;
}

/* Over that of the base's launch in the same block. */
static double ratio_to_base(const struct launches *l, size_t point, const struct launch_value *own)
{
    size_t n, base = l->d->s->points[point].base;
    const struct launch_value *other = launches_of(l, base, &n);
    for (size_t i = 0; i < n; i++)
        if (other[i].block == own->block)
            return work_rate(l, point, own) / work_rate(l, base, &other[i]);
    return NAN;
}

double launches_value(const struct launches *l, size_t point, const struct launch_value *own)
{
    const struct point_summary *p = &l->d->s->points[point], *base = &l->d->s->points[p->base];
    if (l->q->relation == RELATION_RATE)
        return 1e3 * own->images / own->value;
    if (!is_ratio(l->q))
        return own->value;
    double ratio = p == base ? NAN : ratio_to_base(l, point, own);
    return l->q->relation == RELATION_SPEEDUP ? ratio : 100 * ratio * base->cores / p->cores;
}
