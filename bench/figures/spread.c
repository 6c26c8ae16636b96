#include "bench/figures/spread.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench/collect/summary.h"
#include "bench/figures/figure_data.h"
#include "kernels/base/mem.h"

/* Largest number of x positions for which overlapping marks are moved apart. With more positions,
 * plots/line.gp (variable `crowded`) draws marks at the largest x only. */
enum { PLACES_MAX = 48 };

/* Estimated half height of a mark, as a share of the mark's value. The drawn height is about 3.5 %
 * of the axis. */
#define MARK_SHARE 0.02

struct item {
    size_t curve, group;
    double x;
    /* [n] one entry per panel: lower and upper end of the mark with its whiskers; NAN: no value */
    struct interval extents[FIGURE_COLUMNS_MAX];
    size_t n;
};

struct items {
    struct item *items;
    size_t n;
};

/* ---- Drawn marks ---- */

static void add_extent(struct item *item, const struct interval *value, double published)
{
    double mid = isfinite(value->mid) ? value->mid : published, mark = MARK_SHARE * fabs(mid);
    item->extents[item->n].lo = fmin(value->lo, mid - mark);
    item->extents[item->n++].hi = fmax(value->hi, mid + mark);
}

static enum status add_item(struct items *all, size_t curve, double x, struct error *e)
{
    TRY(MEM_GROW(all->items, all->n, "the marks of a figure", e));
    all->items[all->n++] = (struct item){.curve = curve, .x = x};
    return OK;
}

static enum status collect_points(struct items *all, const struct figure_data *d, struct error *e)
{
    for (size_t k = 0; k < d->curves; k++)
        for (size_t i = 0; i < d->series.items[k].n; i++) {
            size_t point = d->series.items[k].points[i];
            long ranks = config_int(&d->s->points[point].point->config, OPT_RANKS);
            TRY(add_item(all, k + 1, (double)ranks, e));
            add_extent(&all->items[all->n - 1], &d->measured[point].value,
                       figure_data_published(d, point));
        }
    return OK;
}

static enum status collect_rows(struct items *all, const struct figure_data *d, struct error *e)
{
    for (size_t i = 0; i < d->table.n; i++) {
        const struct table_row *row = &d->table.rows[i];
        size_t curve = d->table.series[row->series].curve;
        if (curve == 0)
            continue;
        TRY(add_item(all, curve, row->x, e));
        for (size_t k = 0; k < d->n_quantities; k++)
            add_extent(&all->items[all->n - 1], &row->values[k].value, row->published[k]);
    }
    return OK;
}

/* ---- Overlapping marks ---- */

static int by_place(const void *a, const void *b)
{
    const struct item *p = a, *q = b;
    int order = (p->x > q->x) - (p->x < q->x);
    return order ? order : (p->curve > q->curve) - (p->curve < q->curve);
}

/* Returns whether two marks overlap in one of the panels. */
static bool hide_each_other(const struct item *a, const struct item *b)
{
    for (size_t k = 0; k < a->n; k++)
        if (a->extents[k].lo <= b->extents[k].hi && b->extents[k].lo <= a->extents[k].hi)
            return true;
    return false;
}

/* Groups items at one x. Items that overlap, directly or through items between them, get the same
 * group. */
static void find_groups(struct item *items, size_t n)
{
    for (size_t i = 0; i < n; i++)
        items[i].group = i;
    for (size_t i = 0; i < n; i++)
        for (size_t k = i + 1; k < n; k++) {
            size_t from = items[k].group, to = items[i].group;
            for (size_t j = 0; hide_each_other(&items[i], &items[k]) && j < n; j++)
                items[j].group = items[j].group == from ? to : items[j].group;
        }
}

/* Returns how far mark `nth` (from 0) of n overlapping marks moves sideways, in mark widths. Two
 * marks end up one width apart; more marks spread over two widths. */
static double aside_of(size_t nth, size_t n)
{
    double step = n > 2 ? 2.0 / ((double)n - 1) : 1;
    return step * ((double)nth - ((double)n - 1) / 2);
}

/* Appends to spread->marks each mark that moves sideways, with its shift in widths of a mark.
 * `items` [n]: all items at one x. */
static void add_marks(struct spread *spread, struct item *items, size_t n)
{
    find_groups(items, n);
    for (size_t i = 0; i < n; i++) {
        size_t size = 0, nth = 0;
        for (size_t k = 0; k < n; k++) {
            size += items[k].group == items[i].group;
            nth += items[k].group == items[i].group && k < i;
        }
        double aside = aside_of(nth, size);
        if (aside != 0)
            spread->marks[spread->n++] = (struct spread_mark){items[i].curve, items[i].x, aside};
    }
}

static size_t count_alike(const struct item *items, size_t n)
{
    size_t alike = 1;
    while (alike < n && items[alike].x == items[0].x)
        alike++;
    return alike;
}

static enum status spread_items(struct spread *spread, struct items *all, bool any_x,
                                struct error *e)
{
    size_t places = 0;
    qsort(all->items, all->n, sizeof *all->items, by_place);
    for (size_t i = 0; i < all->n; i += count_alike(all->items + i, all->n - i))
        places++;
    if (any_x && places > PLACES_MAX)
        return OK;
    TRY(MEM_NEW(spread->marks, all->n + 1, "the marks of a figure", e));
    for (size_t i = 0, n; i < all->n; i += n) {
        n = count_alike(all->items + i, all->n - i);
        add_marks(spread, all->items + i, n);
    }
    return OK;
}

enum status spread_find(struct spread *spread, const struct figure_data *d, struct error *e)
{
    const struct figure_shape *shape = d->figure->shape;
    bool as_bars = strcmp(figure_text(d->figure, FIGURE_SHAPE), "bars") == 0;
    struct items all = {.items = NULL};
    *spread = (struct spread){.marks = NULL};
    if (shape->bars || as_bars || !shape->whiskers)
        return OK;
    enum status status = (shape->any_x ? collect_rows : collect_points)(&all, d, e);
    if (all.n > 0)
        THEN(status, spread_items(spread, &all, shape->any_x, e));
    free(all.items);
    return status;
}

void spread_free(struct spread *spread)
{
    free(spread->marks);
    *spread = (struct spread){.marks = NULL};
}

/* ---- For the scripts ---- */

void spread_define(FILE *out, const struct spread *spread)
{
    char x[TEXT_NUMBER];
    fputs("spread_marks='", out);
    for (size_t i = 0; i < spread->n; i++) {
        const struct spread_mark *mark = &spread->marks[i];
        fprintf(out, " %zu@%s=%.4f;", mark->curve, text_real(x, mark->x), mark->aside);
    }
    fputs("'; ", out);
}
