/* Finds the partners of each point for comparison: the point without communication and the points
 * of peer programs. */
#include <string.h>

#include "bench/spec/points/alike.h"
#include "bench/spec/points/points.h"

static bool is_not_sync(const struct spec_option *option)
{
    return !scope_is_campaign(option->scope) && strncmp(option->key, "sync.", 5) != 0;
}

static bool is_silent(const struct point *point, long workload)
{
    (void)workload;
    return config_int(&point->config, OPT_STRATEGY) == STRATEGY_none &&
           !config_is_foreign(&point->config) && !config_calibrates(&point->config);
}

/* Returns whether points of different programs must have the same value of the option to be
 * comparable. */
static bool is_common(const struct spec_option *option)
{
    return !scope_is_campaign(option->scope) && option->id != OPT_WORKLOAD &&
           strncmp(option->key, "kernels.", 8) != 0 && strncmp(option->key, "peer.", 5) != 0;
}

static bool is_of(const struct point *point, long workload)
{
    return config_int(&point->config, OPT_WORKLOAD) == workload;
}

static bool is_comparable(const struct point *point)
{
    return !config_is_peer(&point->config);
}

static bool is_any(const struct point *point)
{
    (void)point;
    return true;
}

/* Conditions for the partner of a point: options selected by `counts` are equal, and `fits` returns
 * true for the partner and `workload`. Points for which `asks` returns false have no partner. */
struct search {
    bool (*counts)(const struct spec_option *option);
    bool (*fits)(const struct point *point, long workload);
    bool (*asks)(const struct point *point);
    long workload;
};
static const struct search silent_points = {is_not_sync, is_silent, is_any, 0};

/* Makes the table *first: for each group of points, the index of the group's first point that
 * search->fits accepts. Points of a group have equal values of the options that search->counts
 * selects. `most`: largest number of points that are added to *first or looked up in it. */
static enum status find_first(struct alike **first, const struct spec *spec,
                              const struct search *search, size_t most, struct error *e)
{
    enum status status = alike_make(first, spec, search->counts, most, e);
    for (size_t i = 0; i < spec->n_points && status == OK; i++)
        if (search->fits(&spec->points[i], search->workload))
            alike_note_first(*first, &spec->points[i], i);
    return status;
}

/* Sets each point's member at `offset` to its partner's index. The partner is the first point that
 * search->fits accepts and that has the same values of the options that search->counts selects. A
 * point gets its own index if no such point exists, if search->fits accepts the point itself, or if
 * search->asks rejects the point. */
static enum status find_partners(struct spec *spec, const struct search *search, size_t offset,
                                 struct error *e)
{
    struct alike *first;
    enum status status = find_first(&first, spec, search, spec->n_points, e);
    for (size_t i = 0; i < spec->n_points && status == OK; i++) {
        struct point *point = &spec->points[i];
        size_t partner = *alike_of(first, point);
        *(size_t *)((char *)point + offset) =
            partner == ALIKE_NONE || search->fits(point, search->workload) || !search->asks(point)
                ? i
                : partner;
    }
    alike_free(first);
    return status;
}

/* Sets strategy none. Resets the options sync.* that strategy none rejects to their defaults. */
static enum status silence(struct config *config, struct error *e)
{
    static const enum option_id asked[] = {OPT_VARIANT,  OPT_OVERLAP,   OPT_SCALE,
                                           OPT_COMPRESS, OPT_ALGORITHM, OPT_sync_zero};
    TRY(config_set_text(config, OPT_STRATEGY, names_strategies->names[STRATEGY_none], e));
    for (size_t i = 0; i < sizeof asked / sizeof *asked; i++)
        TRY(config_set_text(config, asked[i], option_get(asked[i])->preset, e));
    return OK;
}

static enum status make_silent(struct point *silent, const struct spec *spec,
                               const struct point *point, struct error *e)
{
    *silent = (struct point){.of = point->of, .case_name = point->case_name};
    config_borrow(&silent->config, &point->config);
    enum status status = silence(&silent->config, e);
    if (status != OK)
        config_free(&silent->config);
    else
        point_identify(silent, spec);
    return status;
}

enum status silent_add(struct spec *spec, struct error *e)
{
    size_t requested = spec->n_points;
    struct alike *known;
    TRY(points_grow(spec, requested, e));
    enum status status = find_first(&known, spec, &silent_points, 2 * requested, e);
    for (size_t i = 0; i < requested && status == OK; i++) {
        struct point *point = &spec->points[i];
        bool wanted = config_int(&point->config, OPT_REPLAY) > 0 &&
                      config_int(&point->config, OPT_RANKS) > 1 && !is_silent(point, 0) &&
                      !config_is_foreign(&point->config);
        size_t *silent = alike_of(known, point);
        if (wanted && *silent != ALIKE_NONE)
            point_share(&spec->points[*silent], point);
        if (!wanted || *silent != ALIKE_NONE)
            continue;
        status = make_silent(&spec->points[spec->n_points], spec, point, e);
        if (status == OK)
            *silent = spec->n_points++;
    }
    alike_free(known);
    return status;
}

static bool has_points_of(const struct spec *spec, long workload)
{
    size_t i = 0;
    while (i < spec->n_points && !is_of(&spec->points[i], workload))
        i++;
    return i < spec->n_points && config_is_peer(&spec->points[i].config);
}

enum status partners_find(struct spec *spec, struct error *e)
{
    TRY(find_partners(spec, &silent_points, offsetof(struct point, silent_index), e));
    for (size_t w = 0; w < WORKLOADS; w++) {
        const struct search peers = {is_common, is_of, is_comparable, (long)w};
        for (size_t i = 0; i < spec->n_points; i++)
            spec->points[i].peers[w] = i;
        if (has_points_of(spec, (long)w))
            TRY(find_partners(spec, &peers, offsetof(struct point, peers) + w * sizeof(size_t), e));
    }
    return OK;
}
