#include "bench/collect/series.h"

#include <stdlib.h>
#include <string.h>

#include "bench/collect/summary.h"

static bool is_equal(const struct point *a, const struct point *b, enum option_id option)
{
    return strcmp(config_text(&a->config, option), config_text(&b->config, option)) == 0;
}

/* Whether the points agree in everything that varies but these two options. */
static bool agree_but_for(const struct spec *spec, const struct point *a, const struct point *b,
                          enum option_id first, enum option_id second)
{
    for (size_t i = 0; i < spec->n_varying; i++) {
        enum option_id option = spec->varying[i];
        if (option != first && option != second && !is_equal(a, b, option))
            return false;
    }
    return true;
}

/* Nodes belong to the axis where ranks alone say how many: not where the same ranks are spread over
 * one node and over two. */
static bool nodes_follow_ranks(const struct spec *spec)
{
    for (size_t i = 0; i < spec->n_points; i++)
        for (size_t k = 0; k < i; k++)
            if (agree_but_for(spec, &spec->points[i], &spec->points[k], OPT_NODES, OPT_NODES) &&
                !is_equal(&spec->points[i], &spec->points[k], OPT_NODES))
                return false;
    return true;
}

/* What distinguishes series; ranks and the nodes they need are the axis. */
static bool is_axis(const struct spec *spec, enum option_id option)
{
    return option == OPT_RANKS || (option == OPT_NODES && nodes_follow_ranks(spec));
}

static bool same_series(const struct spec *spec, const struct point *a, const struct point *b)
{
    enum option_id second = is_axis(spec, OPT_NODES) ? OPT_NODES : OPT_RANKS;
    return agree_but_for(spec, a, b, OPT_RANKS, second);
}

static long ranks_of(const struct summary *s, size_t i)
{
    return config_int(&s->points[i].point->config, OPT_RANKS);
}

/* By insertion: a series has a handful of points. */
static void add_point(struct series *series, const struct summary *s, size_t point)
{
    size_t at = series->n++;
    for (; at > 0 && ranks_of(s, series->points[at - 1]) > ranks_of(s, point); at--)
        series->points[at] = series->points[at - 1];
    series->points[at] = point;
}

static void add_base(struct series *series, const struct summary *s)
{
    size_t base = s->points[series->points[0]].base;
    for (size_t i = 0; i < series->n; i++)
        if (series->points[i] == base)
            return;
    if (ranks_of(s, base) < ranks_of(s, series->points[0]))
        add_point(series, s, base);
}

static void append(struct series *series, const char *text)
{
    size_t used = strlen(series->name);
    snprintf(series->name + used, sizeof series->name - used, "%s%s", used ? ", " : "", text);
}

static void name_series(struct series *series, const struct summary *s)
{
    const struct spec *spec = s->spec;
    const struct point_summary *last = &s->points[series->points[series->n - 1]];
    char text[STRATEGY_TEXT];
    if (last->compute_only)
        snprintf(series->name, sizeof series->name, "compute only (none)");
    else
        snprintf(series->name, sizeof series->name, "%s", strategy_text(text, last->point));
    for (size_t i = 0; i < spec->n_varying; i++) {
        enum option_id option = spec->varying[i];
        if (is_axis(spec, option) || option == OPT_STRATEGY || option == OPT_VARIANT ||
            option == OPT_COMPRESS)
            continue;
        const char *key = strrchr(option_get(option)->key, '.');
        char part[160];
        snprintf(part, sizeof part, "%.60s %.90s", key ? key + 1 : option_get(option)->key,
                 config_text(&last->point->config, option));
        append(series, part);
    }
}

static enum status take_series(struct series *series, const struct summary *s, size_t first,
                               bool *taken, struct error *e)
{
    series->points = calloc(s->n + 1, sizeof *series->points);
    if (!series->points)
        return error_set(e, ERR_MEMORY, "no memory for a series of %zu points", s->n);
    for (size_t i = first; i < s->n; i++) {
        if (taken[i] || !same_series(s->spec, s->points[first].point, s->points[i].point))
            continue;
        add_point(series, s, i);
        taken[i] = true;
    }
    return OK;
}

/* A lone base that others refer to is part of their series. */
static bool only_added_bases(const struct series *series, const struct summary *s)
{
    for (size_t i = 0; i < series->n; i++)
        if (s->points[series->points[i]].point->requested)
            return false;
    return true;
}

static enum status collect(struct series_list *list, const struct summary *s, bool *taken,
                           struct error *e)
{
    for (size_t i = 0; i < s->n; i++) {
        if (taken[i])
            continue;
        struct series *series = &list->items[list->n++];
        enum status status = take_series(series, s, i, taken, e);
        if (status != OK)
            return status;
        if (only_added_bases(series, s)) {
            free(series->points);
            *series = (struct series){0};
            list->n--;
            continue;
        }
        name_series(series, s);
        add_base(series, s);
    }
    return OK;
}

enum status series_collect(struct series_list *list, const struct summary *s, struct error *e)
{
    bool *taken = calloc(s->n + 1, sizeof *taken);
    *list = (struct series_list){.items = calloc(s->n + 1, sizeof *list->items)};
    enum status status = taken && list->items
                             ? collect(list, s, taken, e)
                             : error_set(e, ERR_MEMORY, "no memory for %zu series", s->n);
    free(taken);
    return status;
}

void series_free(struct series_list *list)
{
    for (size_t i = 0; list->items && i < list->n; i++)
        free(list->items[i].points);
    free(list->items);
    *list = (struct series_list){0};
}
