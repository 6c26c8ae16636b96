#include "bench/figures/launches.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench/collect/summary.h"
#include "kernels/base/mem.h"

struct table_of_run {
    struct csv_table raw;
    struct launch_rows launches;
};

struct launches {
    const struct figure_data *d;
    const struct quantity *q;
    struct table_of_run *runs; /* [d->n_runs] raw.csv and launches of each run */
    double *room;              /* [launches of all runs] scratch space for medians */
};

/* Returns the column of raw.csv from which the quantity is computed; NULL: none. */
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

/* Drops repeated rows of launches that several cases share. Unless `complete`, also drops rows
 * without a value; such a row, if kept, makes its point's median unknown. */
static void drop_rows(struct launch_rows *l, bool complete)
{
    size_t n = 0;
    for (size_t i = 0; i < l->n; i++) {
        const struct launch_row *own = &l->items[i], *last = n > 0 ? &l->items[n - 1] : NULL;
        bool copy = last != NULL && strcmp(own->point, last->point) == 0 &&
                    strcmp(own->launch, last->launch) == 0;
        if (!copy && (complete || isfinite(own->value)))
            l->items[n++] = *own;
    }
    l->n = n;
}

static enum status read_run(struct table_of_run *l, const struct quantity *q, const char *dir,
                            struct error *e)
{
    char path[4200];
    snprintf(path, sizeof path, "%s/raw.csv", dir);
    if (q->source == SOURCE_POINTS && access(path, F_OK) != 0)
        return OK;
    TRY(csv_table_read(&l->raw, path, e));
    TRY(launch_rows_read(&l->launches, &l->raw, q->source == SOURCE_RUNS ? "accuracy" : "time",
                         raw_column(q), q->complete, e));
    drop_rows(&l->launches, q->complete);
    return OK;
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
        n += l->runs[i].launches.n;
    }
    return MEM_NEW(l->room, n, "the launches of a figure", e);
}

void launches_free(struct launches *l)
{
    for (size_t i = 0; l != NULL && l->runs != NULL && i < l->d->n_runs; i++) {
        free(l->runs[i].launches.items);
        csv_table_free(&l->runs[i].raw);
    }
    if (l != NULL) {
        free(l->runs);
        free(l->room);
    }
    free(l);
}

/* ---- Launches of a point ---- */

static const struct table_of_run *run_of(const struct launches *l, size_t point)
{
    size_t i = 0;
    while (point >= l->d->runs[i].first + l->d->runs[i].n)
        i++;
    return &l->runs[i];
}

const struct launch_row *launches_of(const struct launches *l, size_t point, size_t *n)
{
    return launch_rows_of(&run_of(l, point)->launches, l->d->s->points[point].cells[COLUMN_point],
                          n);
}

double launches_seed(const struct launches *l, size_t point, const struct launch_row *launch)
{
    return csv_table_value(&run_of(l, point)->raw, launch->row, "seed");
}

void launches_measure(struct figure_data *d, const struct launches *l)
{
    for (size_t i = 0; i < d->s->n; i++) {
        size_t n;
        bool complete = true;
        const struct launch_row *own = launches_of(l, i, &n);
        for (size_t k = 0; k < n; k++) {
            l->room[k] = own[k].value;
            complete = complete && isfinite(own[k].value);
        }
        d->measured[i] = measured_of(l->room, complete ? n : 0);
    }
}

/* Returns the work rate of a launch: point_work (images of a step, or work of a user's program) /
 * time (ms) of the step or program. */
static double work_rate(const struct launches *l, size_t point, const struct launch_row *launch)
{
    const struct summary *s = l->d->s;
    return point_work(s->spec, s->points[point].point, launch->images) / launch->value;
}

/* Returns the work rate of a launch / the work rate of the base's launch in the same block; NAN if
 * the base has no launch in that block. */
static double ratio_to_base(const struct launches *l, size_t point, const struct launch_row *own)
{
    size_t base = l->d->s->points[point].base;
    const struct launch_row *other = launch_rows_in_block(
        &run_of(l, base)->launches, l->d->s->points[base].cells[COLUMN_point], own->block);
    return other != NULL ? work_rate(l, point, own) / work_rate(l, base, other) : NAN;
}

double launches_value(const struct launches *l, size_t point, const struct launch_row *own)
{
    const struct point_summary *p = &l->d->s->points[point], *base = &l->d->s->points[p->base];
    if (l->q->relation == RELATION_RATE)
        return 1e3 * own->images / own->value;
    if (!relation_is_ratio(l->q->relation))
        return own->value;
    double ratio = p == base ? NAN : ratio_to_base(l, point, own);
    return l->q->relation == RELATION_SPEEDUP ? ratio : 100 * ratio * base->cores / p->cores;
}
