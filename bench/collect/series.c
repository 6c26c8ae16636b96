#include "bench/collect/series.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/base/file.h"
#include "bench/collect/summary.h"
#include "bench/spec/points/alike.h"
#include "kernels/base/mem.h"

/* ---- Splitting ---- */

/* Options that separate series: all points of a series have equal values of these options. */
struct splitting {
    const struct summary *s;
    const struct series_by *by;
    enum option_id options[OPTION_COUNT];
    size_t n;
};

static const char *kind_of(const struct splitting *splitting, const struct point *point)
{
    return splitting->by->trained ? config_kind_trained(&point->config)
                                  : config_kind(&point->config);
}

/* Returns the name of the point's run if each run has its own series. "": there is only one run, or
 * the x axis shows runs. */
static const char *run_of(const struct splitting *splitting, const struct point_summary *p)
{
    return p->run != NULL && !splitting->by->over_runs ? p->run : "";
}

/* Returns whether the options and kind of point i can split points into several series.
 * Calibrations and points that are not shown do not split series. */
static bool is_split(const struct point *point, const bool *shown, size_t i)
{
    return (shown == NULL || shown[i]) && !config_calibrates(&point->config);
}

static bool option_splits(const struct splitting *splitting, enum option_id id)
{
    const struct spec *spec = splitting->s->spec;
    const char *first = NULL;
    for (size_t i = 0; i < spec->n_points && !option_is_derived(id); i++) {
        const struct config *config = &spec->points[i].config;
        if (!is_split(&spec->points[i], splitting->by->shown, i) || !config_uses(config, id))
            continue;
        if (first != NULL && strcmp(config_text(config, id), first) != 0)
            return true;
        first = config_text(config, id);
    }
    return false;
}

static size_t index_of(const struct splitting *splitting, enum option_id option)
{
    size_t i = 0;
    while (i < splitting->n && splitting->options[i] != option)
        i++;
    return i;
}

static bool has_option(const struct splitting *splitting, enum option_id option)
{
    return index_of(splitting, option) < splitting->n;
}

static void leave_out(struct splitting *splitting, enum option_id option)
{
    size_t n = 0;
    for (size_t i = 0; i < splitting->n; i++)
        if (splitting->options[i] != option)
            splitting->options[n++] = splitting->options[i];
    splitting->n = n;
}

static int compare_series(const struct splitting *splitting, size_t a, size_t b)
{
    const struct point_summary *p = &splitting->s->points[a], *q = &splitting->s->points[b];
    int order = strcmp(run_of(splitting, p), run_of(splitting, q));
    if (order == 0 && splitting->by->cases)
        order = strcmp(p->point->case_name, q->point->case_name);
    if (order == 0)
        order = strcmp(kind_of(splitting, p->point), kind_of(splitting, q->point));
    for (size_t k = 0; order == 0 && k < splitting->n; k++)
        order = strcmp(config_text(&p->point->config, splitting->options[k]),
                       config_text(&q->point->config, splitting->options[k]));
    return order;
}

static long option_of(const struct splitting *splitting, size_t point, enum option_id option)
{
    return config_int(&splitting->s->points[point].point->config, option);
}

static int by_series_and_ranks(const void *a, const void *b, void *splitting)
{
    const size_t *x = a, *y = b;
    long own = option_of(splitting, *x, OPT_RANKS), other = option_of(splitting, *y, OPT_RANKS);
    int order = compare_series(splitting, *x, *y);
    if (order == 0)
        order = (own > other) - (own < other);
    return order ? order : (*x > *y) - (*x < *y);
}

/* Sorts the indices of all points by series, then by ranks. Free *points. */
static enum status sort_points(size_t **points, struct splitting *splitting, struct error *e)
{
    size_t n = splitting->s->n;
    TRY(MEM_NEW(*points, n, "the series", e));
    for (size_t i = 0; i < n; i++)
        (*points)[i] = i;
    qsort_r(*points, n, sizeof **points, by_series_and_ranks, splitting);
    return OK;
}

static size_t count_values(const struct summary *s, enum option_id option)
{
    size_t n = 0;
    for (size_t i = 0; i < s->n; i++) {
        const char *text = config_text(&s->points[i].point->config, option);
        size_t k = 0;
        while (strcmp(config_text(&s->points[k].point->config, option), text) != 0)
            k++;
        n += k == i;
    }
    return n;
}

/* Replaces `option` (the number of nodes or of ranks) by ranks per node among the options that
 * separate series, but only if ranks per node has fewer values. If ranks per node has a single
 * value, removes `option` without a replacement. */
static void prefer_ranks_per_node(struct splitting *splitting, enum option_id option)
{
    const struct summary *s = splitting->s;
    size_t i = index_of(splitting, option), each = count_values(s, OPT_RANKS_PER_NODE);
    if (i == splitting->n || each >= count_values(s, option))
        return;
    splitting->options[i] = OPT_RANKS_PER_NODE;
    if (each == 1)
        leave_out(splitting, OPT_RANKS_PER_NODE);
}

/* Removes the number of ranks, the x axis, from the options that separate series. Also removes the
 * number of nodes if it follows from ranks and the other options. */
static enum status drop_axes(struct splitting *splitting, struct error *e)
{
    struct splitting but_nodes = *splitting;
    size_t *points;
    bool follow = true;
    leave_out(&but_nodes, OPT_NODES);
    TRY(sort_points(&points, &but_nodes, e));
    for (size_t i = 1; i < splitting->s->n; i++)
        follow &= compare_series(&but_nodes, points[i], points[i - 1]) != 0 ||
                  option_of(splitting, points[i], OPT_NODES) ==
                      option_of(splitting, points[i - 1], OPT_NODES);
    free(points);
    leave_out(splitting, OPT_RANKS);
    if (follow)
        leave_out(splitting, OPT_NODES);
    else
        prefer_ranks_per_node(splitting, OPT_NODES);
    return OK;
}

/* ---- Names ---- */

/* Returns whether names of series contain the strategy. True if strategies, variants or compressors
 * separate series. Also true if the x axis shows ranks, unless by->only restricts which options
 * separate series. */
static bool says_strategy(const struct splitting *splitting)
{
    return (splitting->by->x == OPT_RANKS && !splitting->by->only) ||
           has_option(splitting, OPT_STRATEGY) || has_option(splitting, OPT_VARIANT) ||
           has_option(splitting, OPT_COMPRESS);
}

/* Returns whether the name of the point's series may contain the option. A name without case and
 * run may contain any option. A name with a case or run contains only options that differ within
 * that case or run. */
static bool is_named(const struct splitting *splitting, const struct point_summary *p,
                     enum option_id option)
{
    bool alone = p->run == NULL && (!splitting->by->cases || p->point->case_name[0] == '\0');
    return alone || option_differs_in(splitting->s->spec, p->point->of, option);
}

/* Returns whether a series name must contain the kind, such as emulated. True if other points have
 * another kind, unless the name contains the site. The site determines the kind, apart from whether
 * compute was replayed. */
static bool kinds_differ(const struct splitting *splitting, const struct point_summary *last)
{
    const struct summary *s = splitting->s;
    bool told = has_option(splitting, OPT_SITE) && is_named(splitting, last, OPT_SITE);
    const char *kind = kind_of(splitting, last->point);
    for (size_t i = 0; i < s->n && !told; i++)
        if (is_split(s->points[i].point, splitting->by->shown, i) &&
            strcmp(kind_of(splitting, s->points[i].point), kind) != 0)
            return true;
    return false;
}

static void add_name(struct series *series, const char *part)
{
    text_join(series->name, sizeof series->name, ", ", part);
}

static void name_strategy(struct series *series, const struct splitting *splitting,
                          const struct point_summary *last)
{
    char text[STRATEGY_TEXT];
    if (last->compute_only)
        add_name(series, "compute only (none)");
    else if (is_named(splitting, last, OPT_STRATEGY) || is_named(splitting, last, OPT_VARIANT) ||
             is_named(splitting, last, OPT_COMPRESS) || is_named(splitting, last, OPT_OVERLAP))
        add_name(series, strategy_text(text, last->point));
}

/* Appends the option with its value, such as "batch 64", to the series' name. Options
 * sync.strategy, sync.variant and sync.compress are left to name_strategy. */
static void name_option(struct series *series, const struct splitting *splitting,
                        const struct point_summary *last, enum option_id option)
{
    if (option == OPT_STRATEGY || option == OPT_VARIANT || option == OPT_COMPRESS ||
        !config_uses(&last->point->config, option) ||
        (!splitting->by->only && !is_named(splitting, last, option)))
        return;
    const char *key = config_option(&last->point->config, option)->key;
    char part[160];
    snprintf(part, sizeof part, "%.60s %.90s", key_end(key),
             config_text(&last->point->config, option));
    add_name(series, part);
}

/* Returns the name of a series that no option separates from others: the user's program if the
 * points run one, else the kind of points. */
static const char *last_resort(const struct splitting *splitting, const struct point *point)
{
    const char *program = config_is_foreign(&point->config)
                              ? point->config.values[OPT_COMMAND].texts[0]
                              : kind_of(splitting, point);
    return file_name(program);
}

static void name_series(struct series *series, const struct splitting *splitting)
{
    const struct summary *s = splitting->s;
    const struct point_summary *last = &s->points[series->points[series->n - 1]];
    const char *run = run_of(splitting, last);
    bool requested = false;
    snprintf(series->name, sizeof series->name, "%s", run);
    if (splitting->by->cases && last->point->case_name[0] != '\0')
        add_name(series, last->point->case_name);
    if (says_strategy(splitting))
        name_strategy(series, splitting, last);
    for (size_t i = 0; i < splitting->n; i++)
        name_option(series, splitting, last, splitting->options[i]);
    if (!series->name[0])
        add_name(series, last_resort(splitting, last->point));
    else if ((splitting->by->only || run[0]) && kinds_differ(splitting, last))
        add_name(series, kind_of(splitting, last->point));
    for (size_t i = 0; i < series->n; i++)
        requested |= s->points[series->points[i]].point->requested;
    if (!requested)
        text_join(series->name, sizeof series->name, "", " (base)");
}

/* ---- List ---- */

/* Returns whether some point of the series is requested by the spec or is a base. Points that were
 * only added for comparison form no series. */
static bool is_shown(const size_t *points, size_t n, const struct spec *spec)
{
    for (size_t i = 0; i < n; i++)
        if (spec->points[points[i]].requested || spec->points[points[i]].base)
            return true;
    return false;
}

static enum status take_series(struct series_list *list, const size_t *points, size_t n,
                               const struct splitting *splitting, struct error *e)
{
    if (!is_shown(points, n, splitting->s->spec))
        return OK;
    struct series *series = &list->items[list->n++];
    TRY(MEM_NEW(series->points, n, "the series", e));
    series->first = points[0];
    for (size_t i = 0; i < n; i++) {
        series->points[series->n++] = points[i];
        series->first = points[i] < series->first ? points[i] : series->first;
    }
    name_series(series, splitting);
    return OK;
}

static int by_first_point(const void *a, const void *b)
{
    const struct series *x = a, *y = b;
    return (x->first > y->first) - (x->first < y->first);
}

static enum status take_all(struct series_list *list, const size_t *points,
                            const struct splitting *splitting, struct error *e)
{
    size_t all = splitting->s->n;
    TRY(MEM_NEW(list->items, all, "the series", e));
    for (size_t i = 0, n; i < all; i += n) {
        for (n = 1; i + n < all && compare_series(splitting, points[i], points[i + n]) == 0; n++) {
        }
        TRY(take_series(list, &points[i], n, splitting, e));
    }
    qsort(list->items, list->n, sizeof *list->items, by_first_point);
    return OK;
}

/* Returns whether the option differs within a case or, if a figure combines several runs, within a
 * run. */
static bool differs_within(const struct spec *spec, enum option_id option)
{
    for (size_t k = 0; k < spec->n_points; k++)
        if (option_differs_in(spec, spec->points[k].of, option))
            return true;
    return false;
}

/* Sets the options that separate series: by->options if by->only, else the options in which points
 * (bases included) differ, except by->x. The numbers of nodes and ranks depend on each other, so
 * these two may be left out or replaced. If the x axis shows cases or runs, options that are equal
 * within each case or run are left out as well. */
static enum status choose(struct splitting *splitting, struct error *e)
{
    const struct summary *s = splitting->s;
    const struct series_by *by = splitting->by;
    for (size_t k = 0; by->only && k < by->n_options; k++)
        splitting->options[splitting->n++] = by->options[k];
    if (by->only)
        return OK;
    bool within = !by->cases || by->over_runs;
    for (enum option_id id = 0; id < OPTION_COUNT; id++)
        if (option_splits(splitting, id))
            splitting->options[splitting->n++] = id;
    if (by->x == OPT_RANKS)
        return drop_axes(splitting, e);
    leave_out(splitting, by->x);
    if (by->x == OPT_NODES)
        prefer_ranks_per_node(splitting, OPT_RANKS);
    if (by->x == OPT_RANKS_PER_NODE && splitting->n > 0)
        leave_out(splitting,
                  count_values(s, OPT_RANKS) < count_values(s, OPT_NODES) ? OPT_NODES : OPT_RANKS);
    for (size_t i = splitting->n; within && i-- > 0;)
        if (!differs_within(s->spec, splitting->options[i]))
            leave_out(splitting, splitting->options[i]);
    return OK;
}

enum status series_collect_by(struct series_list *list, const struct summary *s,
                              const struct series_by *by, struct error *e)
{
    struct splitting splitting = {.s = s, .by = by};
    size_t *points;
    *list = (struct series_list){.n = 0};
    TRY(choose(&splitting, e));
    TRY(sort_points(&points, &splitting, e));
    enum status status = take_all(list, points, &splitting, e);
    free(points);
    return status;
}

enum status series_collect(struct series_list *list, const struct summary *s, struct error *e)
{
    return series_collect_by(list, s, &(struct series_by){.cases = true, .x = OPT_RANKS}, e);
}

void series_free(struct series_list *list)
{
    for (size_t i = 0; list->items != NULL && i < list->n; i++)
        free(list->items[i].points);
    free(list->items);
    *list = (struct series_list){0};
}
