#include "bench/figures/merge.h"

#include <stdlib.h>
#include <string.h>

#include "kernels/base/mem.h"
#include "kernels/base/names.h"
#include "kernels/base/text.h"

/* ---- Points ---- */

/* Copies a point. Indices that refer to other points are shifted by `first`, and the run's name is
 * put before the label. */
static void take_point(struct merged *m, const struct figures_run *run, size_t i, size_t first)
{
    const struct point_summary *from = &run->s->points[i];
    struct point_summary *to = &m->s.points[first + i];
    struct point *point = &m->spec.points[first + i];
    *to = *from;
    *point = *from->point;
    to->point = point;
    to->run = run->name;
    to->base += first;
    to->peer += first;
    to->alone += first;
    point->base_index += first;
    point->silent_index += first;
    point->calibration_index += first;
    for (size_t w = 0; w < WORKLOADS; w++)
        point->peers[w] += first;
    point->twin += first;
    if (run->name != NULL)
        snprintf(point->label, sizeof point->label, "%.60s: %.64s", run->name, from->point->label);
}

static enum status take_points(struct merged *m, const struct figures_run *runs, size_t n,
                               struct error *e)
{
    for (size_t i = 0; i < n; i++)
        m->s.n += runs[i].s->n;
    m->spec.n_points = m->s.n;
    TRY(MEM_NEW(m->runs, n, "the runs of figures", e));
    TRY(MEM_NEW(m->s.points, m->s.n, "the points of figures", e));
    TRY(MEM_NEW(m->spec.points, m->s.n, "the points of figures", e));
    for (size_t i = 0, first = 0; i < n; first += runs[i++].s->n) {
        m->runs[i] = (struct figure_run){runs[i].dir, first, runs[i].s->n};
        for (size_t k = 0; k < runs[i].s->n; k++)
            take_point(m, &runs[i], k, first);
    }
    return OK;
}

/* ---- Published values ---- */

static void take_columns(struct published *to, const struct published *from)
{
    for (size_t i = 0; i < from->n; i++) {
        size_t k = 0;
        while (k < to->n && to->columns[k] != from->columns[i])
            k++;
        if (k == to->n && k < PUBLISHED_MAX)
            to->columns[to->n++] = from->columns[i];
    }
    if (strstr(to->file, from->file) == NULL) {
        text_join(to->file, sizeof to->file, ", ", from->file);
        to->rows += from->rows;
    }
    to->matched = to->matched + from->matched < to->rows ? to->matched + from->matched : to->rows;
}

static enum status take_published(struct merged *m, const struct figures_run *runs, size_t n,
                                  struct error *e)
{
    struct published *p = &m->published;
    for (size_t i = 0; i < n; i++)
        if (runs[i].s->published != NULL && runs[i].s->published->file[0])
            take_columns(p, runs[i].s->published);
    TRY(MEM_NEW(p->values, m->s.n * p->n + 1, "published values", e));
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < runs[i].s->n; k++)
            for (size_t c = 0; c < p->n; c++)
                p->values[(m->runs[i].first + k) * p->n + c] =
                    published_value(runs[i].s, k, p->columns[c]);
    m->s.published = p;
    return OK;
}

/* ---- Options of the whole campaign ---- */

/* If the runs differ in the scaling, the batch per rank or the accumulation, resets this option to
 * its default. Captions and axes would otherwise state the first run's value. */
static void take_common(struct merged *m, const struct figures_run *runs, size_t n)
{
    static const enum option_id common[] = {OPT_SCALING, OPT_BATCH_PER_RANK, OPT_ACCUMULATE};
    for (size_t k = 0; k < sizeof common / sizeof *common; k++)
        for (size_t i = 1; i < n; i++)
            if (strcmp(config_text(&runs[i].s->spec->config, common[k]),
                       config_text(&runs[0].s->spec->config, common[k])) != 0)
                m->spec.config.values[common[k]] = m->spec.presets.values[common[k]];
}

/* Gives *m the runs' longest list of user-defined options (workload.options.*). Rejects lists that
 * differ at an index, since points' options are compared by index. */
static enum status take_own(struct merged *m, const struct figures_run *runs, size_t n,
                            struct error *e)
{
    for (size_t i = 1; i < n; i++) {
        struct own_options *all = m->spec.own, *own = runs[i].s->spec->own;
        for (size_t k = 0; k < all->n && k < own->n; k++)
            if (strcmp(all->keys[k], own->keys[k]) != 0)
                return error_set(e, ERR_ARGUMENT,
                                 "figures: one run has the option %s, another has %s. Runs in one "
                                 "figure must have no workload.options, or the same ones in the "
                                 "same order",
                                 all->keys[k], own->keys[k]);
        if (own->n > all->n)
            m->spec.own = own;
    }
    m->spec.config.own = m->spec.own;
    return OK;
}

static enum status take_differs(struct merged *m, const struct figures_run *runs, size_t n,
                                struct error *e)
{
    struct value *all = &m->spec.config.values[OPT_DIFFERS];
    size_t most = 0;
    for (size_t i = 0; i < n; i++)
        most += runs[i].s->spec->config.values[OPT_DIFFERS].n;
    TRY(MEM_NEW(m->differs, most + 1, "the texts of option differs", e));
    all->texts = m->differs;
    all->n = 0;
    for (size_t i = 0; i < n; i++) {
        const struct value *own = &runs[i].s->spec->config.values[OPT_DIFFERS];
        for (size_t k = 0; k < own->n; k++)
            if (name_index(own->texts[k], (const char *const *)all->texts, all->n) < 0)
                all->texts[all->n++] = own->texts[k];
    }
    return OK;
}

enum status merge_runs(struct merged *m, const struct figures_run *runs, size_t n, struct error *e)
{
    *m = (struct merged){.spec = *runs[0].s->spec};
    m->spec.points = NULL;
    m->s.spec = &m->spec;
    TRY(take_points(m, runs, n, e));
    TRY(take_published(m, runs, n, e));
    take_common(m, runs, n);
    TRY(take_own(m, runs, n, e));
    return take_differs(m, runs, n, e);
}

void merged_free(struct merged *m)
{
    free(m->runs);
    free(m->s.points);
    free(m->spec.points);
    free(m->published.values);
    free(m->differs);
    *m = (struct merged){.runs = NULL};
}
