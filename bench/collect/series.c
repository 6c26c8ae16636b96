#include "bench/collect/series.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/collect/summary.h"
#include "bench/spec/points/alike.h"
#include "kernels/base/mem.h"

/* ---- What tells series from each other ---- */

/* The options in which any two points differ, added ones included: a base need not be of the
 * series that refer to it. */
struct splitting {
    bool cases, over_runs, trained;
    enum option_id options[OPTION_COUNT];
    size_t n;
};

static const char *kind_of(const struct splitting *splitting, const struct point *point)
{
    return splitting->trained ? config_kind_trained(&point->config) : config_kind(&point->config);
}

/* A point and what its series has in common, one text an option. */
struct keyed {
    char *key;
    size_t point;
    long ranks;
};

/* Calibrations, which no curve shows, differ in what follows from others. */
static bool is_split(const struct point *point, const bool *shown, size_t i)
{
    return (shown == NULL || shown[i]) && !config_calibrates(&point->config);
}

static bool option_splits(const struct spec *spec, const bool *shown, enum option_id id)
{
    const char *first = NULL;
    for (size_t i = 0; i < spec->n_points && !option_is_derived(id); i++) {
        const struct config *config = &spec->points[i].config;
        if (!is_split(&spec->points[i], shown, i) || !config_uses(config, id))
            continue;
        if (first != NULL && strcmp(config_text(config, id), first) != 0)
            return true;
        first = config_text(config, id);
    }
    return false;
}

static void find_splitting(struct splitting *splitting, const struct spec *spec, const bool *shown)
{
    for (enum option_id id = 0; id < OPTION_COUNT; id++)
        if (option_splits(spec, shown, id))
            splitting->options[splitting->n++] = id;
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

static void keyed_free(struct keyed *keyed, size_t n)
{
    for (size_t i = 0; keyed != NULL && i < n; i++)
        free(keyed[i].key);
    free(keyed);
}

static int by_key(const void *a, const void *b)
{
    const struct keyed *x = a, *y = b;
    int order = strcmp(x->key, y->key);
    if (order == 0)
        order = (x->ranks > y->ranks) - (x->ranks < y->ranks);
    return order ? order : (x->point > y->point) - (x->point < y->point);
}

static enum status write_key(struct keyed *keyed, const struct point_summary *p,
                             const struct splitting *splitting, struct error *e)
{
    const struct point *point = p->point;
    size_t size;
    FILE *out = open_memstream(&keyed->key, &size);
    if (out != NULL)
        fprintf(out, "%s\n%s\n", p->run != NULL && !splitting->over_runs ? p->run : "",
                splitting->cases ? point->case_name : "");
    for (size_t k = 0; out != NULL && k < splitting->n; k++)
        fprintf(out, "%s\n", config_text(&point->config, splitting->options[k]));
    if (out != NULL)
        fprintf(out, "%s\n", kind_of(splitting, point));
    return out != NULL && fclose(out) == 0 ? OK : error_no_memory(e, "the series");
}

/* Every point with its key, sorted by key and ranks. Freed with keyed_free in any case. */
static enum status key_points(struct keyed **keyed, const struct summary *s,
                              const struct splitting *splitting, struct error *e)
{
    TRY(MEM_NEW(*keyed, s->n, "the series", e));
    for (size_t i = 0; i < s->n; i++) {
        (*keyed)[i].point = i;
        (*keyed)[i].ranks = config_int(&s->points[i].point->config, OPT_RANKS);
        TRY(write_key(&(*keyed)[i], &s->points[i], splitting, e));
    }
    qsort(*keyed, s->n, sizeof **keyed, by_key);
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

/* Of two ways to cut a grid of nodes and ranks into curves, the one that makes fewer: one for each
 * number of ranks a node rather than for each of `option`. */
static void prefer_ranks_per_node(struct splitting *splitting, const struct summary *s,
                                  enum option_id option)
{
    size_t i = index_of(splitting, option), each = count_values(s, OPT_RANKS_PER_NODE);
    if (i == splitting->n || each >= count_values(s, option))
        return;
    splitting->options[i] = OPT_RANKS_PER_NODE;
    if (each == 1)
        leave_out(splitting, OPT_RANKS_PER_NODE);
}

/* Nodes belong to the axis where ranks alone say how many: not where the same ranks are spread over
 * one node and over two. */
static enum status drop_axes(struct splitting *splitting, const struct summary *s, struct error *e)
{
    const struct spec *spec = s->spec;
    struct splitting but_nodes = *splitting;
    leave_out(&but_nodes, OPT_NODES);
    struct keyed *keyed;
    enum status status = key_points(&keyed, s, &but_nodes, e);
    bool follow = true;
    for (size_t i = 1; status == OK && i < spec->n_points; i++)
        follow &= strcmp(keyed[i].key, keyed[i - 1].key) != 0 ||
                  config_int(&spec->points[keyed[i].point].config, OPT_NODES) ==
                      config_int(&spec->points[keyed[i - 1].point].config, OPT_NODES);
    keyed_free(keyed, spec->n_points);
    leave_out(splitting, OPT_RANKS);
    if (follow)
        leave_out(splitting, OPT_NODES);
    else
        prefer_ranks_per_node(splitting, s, OPT_NODES);
    return status;
}

/* ---- Names ---- */

/* Curves over ranks are known by their strategy, others where it is what tells them apart. */
static bool says_strategy(const struct splitting *splitting, const struct series_by *by)
{
    return (by->x == OPT_RANKS && !by->only) || has_option(splitting, OPT_STRATEGY) ||
           has_option(splitting, OPT_VARIANT) || has_option(splitting, OPT_COMPRESS);
}

/* Of a case, and of one of several runs, what differs within it. */
static bool is_named(const struct point_summary *p, const struct summary *s,
                     const struct splitting *splitting, enum option_id option)
{
    bool alone = p->run == NULL && (!splitting->cases || p->point->case_name[0] == '\0');
    return alone || option_differs_in(s->spec, p->point->of, option);
}

/* Kinds that the site's name does not tell. */
static bool kinds_differ(const struct summary *s, const struct splitting *splitting,
                         const bool *shown, const struct point_summary *last)
{
    bool told = has_option(splitting, OPT_SITE) && is_named(last, s, splitting, OPT_SITE);
    const char *kind = kind_of(splitting, last->point);
    for (size_t i = 0; i < s->n && !told; i++)
        if (is_split(s->points[i].point, shown, i) &&
            strcmp(kind_of(splitting, s->points[i].point), kind) != 0)
            return true;
    return false;
}

static void name_strategy(struct series *series, const struct summary *s,
                          const struct splitting *splitting, const struct point_summary *last)
{
    char text[STRATEGY_TEXT];
    bool named =
        is_named(last, s, splitting, OPT_STRATEGY) || is_named(last, s, splitting, OPT_VARIANT) ||
        is_named(last, s, splitting, OPT_COMPRESS) || is_named(last, s, splitting, OPT_OVERLAP);
    if (last->compute_only)
        text_join(series->name, sizeof series->name, ", ", "compute only (none)");
    else if (named)
        text_join(series->name, sizeof series->name, ", ", strategy_text(text, last->point));
}

/* Where nothing tells series apart: the program that is not ours, or what kind of time this is. */
static const char *last_resort(const struct splitting *splitting, const struct point *point)
{
    const char *program = config_is_foreign(&point->config)
                              ? point->config.values[OPT_COMMAND].texts[0]
                              : kind_of(splitting, point);
    const char *slash = strrchr(program, '/');
    return slash != NULL ? slash + 1 : program;
}

static void name_series(struct series *series, const struct summary *s,
                        const struct splitting *splitting, const struct series_by *by)
{
    const struct point_summary *last = &s->points[series->points[series->n - 1]];
    bool of_run = last->run != NULL && !splitting->over_runs;
    snprintf(series->name, sizeof series->name, "%s", of_run ? last->run : "");
    if (splitting->cases && last->point->case_name[0] != '\0')
        text_join(series->name, sizeof series->name, ", ", last->point->case_name);
    if (says_strategy(splitting, by))
        name_strategy(series, s, splitting, last);
    for (size_t i = 0; i < splitting->n; i++) {
        enum option_id option = splitting->options[i];
        if (option == OPT_STRATEGY || option == OPT_VARIANT || option == OPT_COMPRESS ||
            !config_uses(&last->point->config, option) ||
            (!by->only && !is_named(last, s, splitting, option)))
            continue;
        const char *whole = config_option(&last->point->config, option)->key;
        const char *key = strrchr(whole, '.');
        char part[160];
        snprintf(part, sizeof part, "%.60s %.90s", key != NULL ? key + 1 : whole,
                 config_text(&last->point->config, option));
        text_join(series->name, sizeof series->name, ", ", part);
    }
    const char *kind = kind_of(splitting, last->point);
    if (!series->name[0] || ((by->only || of_run) && kinds_differ(s, splitting, by->shown, last)))
        text_join(series->name, sizeof series->name, ", ",
                  series->name[0] ? kind : last_resort(splitting, last->point));
    size_t used = strlen(series->name);
    bool requested = false;
    for (size_t i = 0; i < series->n; i++)
        requested |= s->points[series->points[i]].point->requested;
    if (!requested)
        snprintf(series->name + used, sizeof series->name - used, " (base)");
}

/* ---- The list ---- */

/* Points added to be compared with have no line of their own, but a base has: the others refer to
 * it. */
static bool is_shown(const struct keyed *keyed, size_t n, const struct spec *spec)
{
    for (size_t i = 0; i < n; i++)
        if (spec->points[keyed[i].point].requested || spec->points[keyed[i].point].base)
            return true;
    return false;
}

static enum status take_series(struct series_list *list, const struct keyed *keyed, size_t n,
                               const struct summary *s, const struct splitting *splitting,
                               const struct series_by *by, struct error *e)
{
    if (!is_shown(keyed, n, s->spec))
        return OK;
    struct series *series = &list->items[list->n++];
    TRY(MEM_NEW(series->points, n, "the series", e));
    series->first = keyed[0].point;
    for (size_t i = 0; i < n; i++) {
        series->points[series->n++] = keyed[i].point;
        series->first = keyed[i].point < series->first ? keyed[i].point : series->first;
    }
    name_series(series, s, splitting, by);
    return OK;
}

static int by_first_point(const void *a, const void *b)
{
    const struct series *x = a, *y = b;
    return (x->first > y->first) - (x->first < y->first);
}

static enum status take_all(struct series_list *list, const struct keyed *keyed,
                            const struct summary *s, const struct splitting *splitting,
                            const struct series_by *by, struct error *e)
{
    TRY(MEM_NEW(list->items, s->n, "the series", e));
    for (size_t i = 0, n; i < s->n; i += n) {
        for (n = 1; i + n < s->n && strcmp(keyed[i].key, keyed[i + n].key) == 0; n++) {
        }
        TRY(take_series(list, &keyed[i], n, s, splitting, by, e));
    }
    qsort(list->items, list->n, sizeof *list->items, by_first_point);
    return OK;
}

/* Over cases and over runs, what differs within one: the rest belongs to them. */
static void keep_within(struct splitting *splitting, const struct spec *spec)
{
    size_t n = 0;
    for (size_t i = 0; i < splitting->n; i++) {
        bool differs = false;
        for (size_t k = 0; k < spec->n_points && !differs; k++)
            differs = option_differs_in(spec, spec->points[k].of, splitting->options[i]);
        if (differs)
            splitting->options[n++] = splitting->options[i];
    }
    splitting->n = n;
}

/* Only these options, or all but x. */
static enum status choose(struct splitting *splitting, const struct summary *s,
                          const struct series_by *by, struct error *e)
{
    const struct spec *spec = s->spec;
    *splitting =
        (struct splitting){.cases = by->cases, .over_runs = by->over_runs, .trained = by->trained};
    if (by->only) {
        splitting->n = by->n_options;
        memcpy(splitting->options, by->options, by->n_options * sizeof *by->options);
        return OK;
    }
    find_splitting(splitting, spec, by->shown);
    if (by->x == OPT_RANKS)
        return drop_axes(splitting, s, e);
    leave_out(splitting, by->x);
    if (by->x == OPT_NODES)
        prefer_ranks_per_node(splitting, s, OPT_RANKS);
    if (by->x == OPT_RANKS_PER_NODE && splitting->n > 0)
        leave_out(splitting,
                  count_values(s, OPT_RANKS) < count_values(s, OPT_NODES) ? OPT_NODES : OPT_RANKS);
    if (!by->cases || by->over_runs)
        keep_within(splitting, spec);
    return OK;
}

enum status series_collect_by(struct series_list *list, const struct summary *s,
                              const struct series_by *by, struct error *e)
{
    struct splitting splitting;
    struct keyed *keyed;
    *list = (struct series_list){.n = 0};
    TRY(choose(&splitting, s, by, e));
    enum status status = key_points(&keyed, s, &splitting, e);
    THEN(status, take_all(list, keyed, s, &splitting, by, e));
    keyed_free(keyed, s->n);
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
