/* Chooses, for each point, the baseline point that its speed-up is relative to. */
#include <stdlib.h>
#include <string.h>

#include "bench/spec/matrix.h"
#include "bench/spec/nodes/compute.h"
#include "bench/spec/nodes/resolve.h"
#include "bench/spec/points/alike.h"
#include "bench/spec/points/points.h"
#include "kernels/base/mem.h"

static long ranks_of(const struct spec *spec, size_t point)
{
    return config_int(&spec->points[point].config, OPT_RANKS);
}

static void note_fewest(struct alike *alike, const struct spec *spec, size_t i)
{
    size_t *best = alike_of(alike, &spec->points[i]);
    if (*best == ALIKE_NONE || ranks_of(spec, i) < ranks_of(spec, *best))
        *best = i;
}

/* Chooses the base of a point without `baseline:`: the point with the fewest ranks that solves the
 * same problem. Among several such points, the first one of the same case is chosen, else the
 * first. */
static void choose_base(struct spec *spec, size_t i, struct alike *problems, struct alike *own)
{
    struct point *point = &spec->points[i];
    size_t best = *alike_of(problems, point), best_own = *alike_of(own, point);
    point->base_index = ranks_of(spec, best_own) == ranks_of(spec, best) ? best_own : best;
}

enum status bases_choose(struct spec *spec, struct error *e)
{
    struct alike *problems, *own = NULL;
    enum status status = alike_make(&problems, spec, option_is_problem, spec->n_points, e);
    THEN(status, alike_make(&own, spec, option_is_problem, spec->n_points, e));
    if (status == OK)
        alike_by_case(own);
    for (size_t i = 0; i < spec->n_points && status == OK; i++) {
        note_fewest(problems, spec, i);
        note_fewest(own, spec, i);
    }
    for (size_t i = 0; i < spec->n_points && status == OK; i++)
        choose_base(spec, i, problems, own);
    alike_free(problems);
    alike_free(own);
    return status;
}

/* Returns `baseline:` of the point's case, else of the spec; NULL if there is none. */
static const struct selection *baseline_of(const struct spec *spec, const struct point *point)
{
    const struct matrix *of = point->of->has_baseline ? point->of : spec->matrix;
    return of->has_baseline ? &of->baseline : NULL;
}

/* Makes a baseline point: a copy of `point` with the values of `baseline`. After an error, nothing
 * in *base needs freeing. */
static enum status make_base(struct point *base, struct spec *spec, const struct point *point,
                             const struct selection *baseline, struct error *e)
{
    *base = (struct point){.of = point->of, .case_name = point->case_name};
    config_borrow(&base->config, &point->config);
    for (size_t i = 0; i < OPTION_COUNT; i++)
        if (baseline->config.values[i].set)
            config_put(&base->config, (enum option_id)i, &baseline->config.values[i]);
    enum status status = owned_note(spec, &base->config, NULL, e);
    THEN(status, nodes_resolve_base(&base->config, &baseline->config, spec, e));
    THEN(status, compute_resolve_base(&base->config, baseline, spec, point->of, e));
    if (status == OK)
        point_identify(base, spec);
    else
        config_free(&base->config);
    return status;
}

/* Tables that map a point to the index of an equal point. `any`: points of the same identity.
 * `own`: points of the same case with equal values of all options that they use. */
struct known {
    struct alike *own, *any;
};

struct known_index {
    size_t *own, *any;
};

/* Returns pointers to the two indices that the tables in `known` store for points equal to `point`.
 * An index is ALIKE_NONE until the caller sets it. */
static struct known_index index_of(const struct known *known, const struct spec *spec,
                                   const struct point *point)
{
    struct point plain = *point;
    config_borrow(&plain.config, &point->config);
    for (enum option_id id = 0; id < OPTION_COUNT; id++)
        if (!config_uses(&point->config, id))
            config_put(&plain.config, id, &spec->presets.values[id]);
    point_identify(&plain, spec);
    struct known_index index = {alike_of(known->own, &plain), alike_of(known->any, point)};
    config_free(&plain.config);
    return index;
}

static enum status place_base(struct spec *spec, size_t i, const struct known *known,
                              struct error *e)
{
    const struct selection *baseline = baseline_of(spec, &spec->points[i]);
    struct point base;
    if (baseline == NULL)
        return OK;
    TRY(make_base(&base, spec, &spec->points[i], baseline, e));
    struct known_index at = index_of(known, spec, &base);
    size_t index = *at.own != ALIKE_NONE ? *at.own : *at.any;
    if (index == ALIKE_NONE) {
        *at.own = *at.any = index = base.base_index = spec->n_points;
        spec->points[spec->n_points++] = base;
    } else {
        config_free(&base.config);
    }
    spec->points[i].base_index = index;
    point_share(&spec->points[index], &spec->points[i]);
    return OK;
}

/* Moves the added baseline points to the front, before the `requested` points of the matrix. */
static enum status bring_forward(struct spec *spec, size_t requested, struct error *e)
{
    size_t n = spec->n_points, added = n - requested;
    struct point *points = spec->points, *moved;
    TRY(MEM_NEW(moved, added, "points", e));
    memcpy(moved, points + requested, added * sizeof *points);
    memmove(points + added, points, requested * sizeof *points);
    memcpy(points, moved, added * sizeof *points);
    free(moved);
    for (size_t i = 0; i < n; i++)
        points[i].base_index = (points[i].base_index + added) % n;
    return OK;
}

static bool has_baseline(const struct spec *spec)
{
    for (size_t i = 0; i < spec->n_points; i++)
        if (baseline_of(spec, &spec->points[i]) != NULL)
            return true;
    return false;
}

enum status bases_add(struct spec *spec, struct error *e)
{
    size_t requested = spec->n_points;
    struct known known = {NULL, NULL};
    if (!has_baseline(spec))
        return OK;
    TRY(points_grow(spec, requested, e));
    enum status status = alike_make(&known.any, spec, NULL, 2 * requested, e);
    THEN(status, alike_make(&known.own, spec, NULL, 2 * requested, e));
    if (status == OK)
        alike_by_case(known.own);
    for (size_t i = 0; i < requested && status == OK; i++) {
        struct known_index at = index_of(&known, spec, &spec->points[i]);
        *at.own = *at.own == ALIKE_NONE ? i : *at.own;
        *at.any = *at.any == ALIKE_NONE ? i : *at.any;
    }
    for (size_t i = 0; i < requested && status == OK; i++)
        status = place_base(spec, i, &known, e);
    alike_free(known.any);
    alike_free(known.own);
    return status == OK ? bring_forward(spec, requested, e) : status;
}

enum status bases_check(const struct spec *spec, struct error *e)
{
    const struct value *scaling = &spec->config.values[OPT_SCALING];
    bool vary = false, compared = false;
    for (size_t i = 0; i < spec->n_points; i++) {
        vary = vary || ranks_of(spec, i) != ranks_of(spec, 0);
        compared = compared || ranks_of(spec, i) != ranks_of(spec, spec->points[i].base_index);
    }
    bool open = spec_option_is_open(spec, OPT_RANKS) || spec_option_is_open(spec, OPT_NODES);
    if (!vary || compared || open || !scaling->set || spec->is_recorded ||
        config_int(&spec->config, OPT_SCALING) == SCALING_none)
        return OK;
    return mark_error(e, ERR_SPEC, scaling->mark,
                      "scaling = %s compares different numbers of ranks on the same problem, but "
                      "here the problem changes with the number of ranks. Keep model, data and "
                      "batch the same for every number of ranks, or use scaling: none",
                      scaling->text);
}
