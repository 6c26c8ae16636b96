#include "bench/figures/spread.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench/collect/summary.h"
#include "bench/figures/figure_data.h"
#include "kernels/base/mem.h"

/* More places than these have no marks in a figure over anything (crowded of plots/line.gp). */
enum { PLACES_MAX = 48 };

/* A mark is about 3.5 % of an axis high: it hides what lies within this share of its own value. */
#define MARK_SHARE 0.02

struct extent {
    double lo, hi; /* NAN: there is nothing */
};

struct item {
    size_t curve, group;
    double x;
    struct extent extents[FIGURE_COLUMNS_MAX];
};

struct items {
    struct item *items;
    size_t n;
};

/* ---- What is drawn ---- */

static struct extent extent_of(const struct interval *value, double published)
{
    double mid = isfinite(value->mid) ? value->mid : published, mark = MARK_SHARE * fabs(mid);
    return (struct extent){fmin(value->lo, mid - mark), fmax(value->hi, mid + mark)};
}

static struct item new_item(size_t curve, double x)
{
    struct item item = {.curve = curve, .x = x};
    for (size_t k = 0; k < FIGURE_COLUMNS_MAX; k++)
        item.extents[k] = (struct extent){NAN, NAN};
    return item;
}

static enum status collect_points(struct items *all, const struct figure_data *d, struct error *e)
{
    TRY(MEM_NEW(all->items, d->s->n + 1, "the marks of a figure", e));
    for (size_t k = 0; k < d->curves; k++)
        for (size_t i = 0; i < d->series.items[k].n; i++) {
            size_t point = d->series.items[k].points[i];
            long ranks = config_int(&d->s->points[point].point->config, OPT_RANKS);
            struct item *item = &all->items[all->n++];
            *item = new_item(k + 1, (double)ranks);
            item->extents[0] =
                extent_of(&d->measured[point].value, figure_data_published(d, point));
        }
    return OK;
}

static enum status collect_rows(struct items *all, const struct figure_data *d, struct error *e)
{
    TRY(MEM_NEW(all->items, d->table.n + 1, "the marks of a figure", e));
    for (size_t i = 0; i < d->table.n; i++) {
        const struct table_row *row = &d->table.rows[i];
        size_t curve = d->table.series[row->series].curve;
        struct item *item = &all->items[all->n];
        *item = new_item(curve, row->x);
        for (size_t k = 0; k < d->n_quantities; k++)
            item->extents[k] = extent_of(&row->values[k].value, row->published[k]);
        all->n += curve > 0;
    }
    return OK;
}

/* ---- What hides what ---- */

static int by_place(const void *a, const void *b)
{
    const struct item *p = a, *q = b;
    int order = (p->x > q->x) - (p->x < q->x);
    return order ? order : (p->curve > q->curve) - (p->curve < q->curve);
}

/* In one of the panels. */
static bool hide_each_other(const struct item *a, const struct item *b)
{
    for (size_t k = 0; k < FIGURE_COLUMNS_MAX; k++)
        if (a->extents[k].lo <= b->extents[k].hi && b->extents[k].lo <= a->extents[k].hi)
            return true;
    return false;
}

static void join_groups(struct item *items, size_t n, size_t from, size_t to)
{
    for (size_t i = 0; i < n; i++)
        if (items[i].group == from)
            items[i].group = to;
}

/* A group of items at one x is hidden by each other, directly or through others of the group. */
static void find_groups(struct item *items, size_t n)
{
    for (size_t i = 0; i < n; i++)
        items[i].group = i;
    for (size_t i = 0; i < n; i++)
        for (size_t k = i + 1; k < n; k++)
            if (items[i].group != items[k].group && hide_each_other(&items[i], &items[k]))
                join_groups(items, n, items[k].group, items[i].group);
}

/* Two marks are a mark's width apart; more of them share two widths. */
static double aside_of(size_t nth, size_t n)
{
    double step = n > 2 ? 2.0 / ((double)n - 1) : 1;
    return step * ((double)nth - ((double)n - 1) / 2);
}

/* Items at one x. */
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

static size_t count_places(const struct items *all)
{
    size_t places = 0;
    for (size_t i = 0; i < all->n; i++)
        places += i == 0 || all->items[i].x != all->items[i - 1].x;
    return places;
}

static enum status spread_items(struct spread *spread, struct items *all, bool any_x,
                                struct error *e)
{
    qsort(all->items, all->n, sizeof *all->items, by_place);
    if (any_x && count_places(all) > PLACES_MAX)
        return OK;
    TRY(MEM_NEW(spread->marks, all->n + 1, "the marks of a figure", e));
    for (size_t i = 0, n; i < all->n; i += n) {
        for (n = 1; i + n < all->n && all->items[i + n].x == all->items[i].x; n++) {
        }
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
