#include "bench/spec/expand.h"

#include <sha256.h>
#include <stdlib.h>
#include <string.h>

#include "bench/spec/alike.h"
#include "bench/spec/matrix.h"
#include "bench/spec/nodes/compute.h"
#include "bench/spec/nodes/resolve.h"
#include "bench/spec/value.h"
#include "kernels/base/mem.h"

/* A point takes some 7 KiB: 450 MiB at most. */
#define POINTS_MAX 65536

/* Initial weights are part of a problem; when and where they are written is not. */
static bool is_checkpointing(const struct spec_option *option)
{
    return strncmp(option->key, "checkpoint.", 11) == 0 && option->id != OPT_CHECKPOINT_START;
}

/* Replayed compute stands for the real one. */
static bool is_of_compute(const struct spec_option *option)
{
    return option->id == OPT_COMPUTE || option->id == OPT_COMPUTE_RATE ||
           option->id == OPT_COMPUTE_CORES;
}

bool option_is_problem(const struct spec_option *option)
{
    return !scope_is_campaign(option->scope) && !option->flaw && !is_checkpointing(option) &&
           option->id != OPT_RANKS && option->id != OPT_NODES && !option_is_derived(option->id) &&
           strncmp(option->key, "place.", 6) != 0 && strncmp(option->key, "sync.", 5) != 0 &&
           strncmp(option->key, "inject.", 7) != 0 && !is_of_compute(option);
}

/* ---- Identity ---- */

static void add_option(SHA256_CTX *context, const char *key, const char *text)
{
    SHA256_Update(context, (const uint8_t *)key, strlen(key));
    SHA256_Update(context, (const uint8_t *)"=", 1);
    SHA256_Update(context, (const uint8_t *)text, strlen(text));
    SHA256_Update(context, (const uint8_t *)"\n", 1);
}

/* 12 hexadecimal digits of the SHA-256 over "key=value\n" of what a point may differ in, presets left
 * out: a later version that knows more options gives the same identity. */
static void identify(struct point *point, const struct spec *spec)
{
    SHA256_CTX context;
    point->net = spec_input_find(spec, OPT_MODEL, config_text(&point->config, OPT_MODEL));
    SHA256_Init(&context);
    for (size_t i = 0; i < OPTION_COUNT; i++) {
        const struct spec_option *option = config_option(&spec->config, (enum option_id)i);
        const char *text = point->config.values[i].text;
        if (i == OPT_MODEL && point->net != NULL)
            text = point->net->digest;
        if (!scope_is_campaign(option->scope) && !option_is_derived(option->id) &&
            strcmp(text, spec->presets.values[i].text) != 0)
            add_option(&context, option->key, text);
    }
    char digest[SHA256_DIGEST_STRING_LENGTH];
    SHA256_End(&context, digest);
    snprintf(point->id, sizeof point->id, "%.12s", digest);
}

/* ---- The matrix ---- */

/* The combinations of one case, or of a spec without cases: its own axes laid over the spec's. */
struct product {
    const struct matrix *of;
    struct config config; /* outside the axes; borrowed */
    const struct axis *axes[OPTION_COUNT];
    size_t ways[OPTION_COUNT];    /* of each axis: which of `lengths` it runs with */
    size_t lengths[OPTION_COUNT]; /* of axes that run alone, or of those that run together */
    size_t n_axes, n_ways;
};

static void put_value(struct config *config, enum option_id id, const struct value *value)
{
    value_free(&config->values[id]);
    value_borrow(&config->values[id], value);
}

/* A case that gives one of both batches does without the spec's other one. */
static bool is_displaced(const struct matrix *of, enum option_id id)
{
    return (id == OPT_GLOBAL_BATCH && matrix_gives(of, OPT_BATCH_PER_RANK)) ||
           (id == OPT_BATCH_PER_RANK && matrix_gives(of, OPT_GLOBAL_BATCH));
}

static void add_axis(struct product *product, const struct axis *axis)
{
    size_t i = product->n_axes++, way = product->n_ways;
    bool own = matrix_axis(product->of, axis->id) == axis;
    for (size_t k = 0; k < i && axis->zip > 0; k++) {
        const struct axis *other = product->axes[k];
        bool others = matrix_axis(product->of, other->id) == other;
        if (other->zip == axis->zip && own == others)
            way = product->ways[k];
    }
    product->axes[i] = axis;
    product->ways[i] = way;
    product->lengths[way] = axis->n;
    product->n_ways += way == product->n_ways;
}

/* An axis of the case stands where the spec's of the same key stood. */
static void add_axes(struct product *product, const struct matrix *all, const struct matrix *of)
{
    for (size_t i = 0; i < all->n_axes; i++) {
        enum option_id id = all->axes[i].id;
        if (of == all || !(matrix_gives(of, id) || is_displaced(of, id)))
            add_axis(product, &all->axes[i]);
        else if (matrix_axis(of, id) != NULL)
            add_axis(product, matrix_axis(of, id));
    }
    for (size_t i = 0; i < of->n_axes && of != all; i++)
        if (matrix_axis(all, of->axes[i].id) == NULL)
            add_axis(product, &of->axes[i]);
}

static void open_product(struct product *product, const struct spec *spec, const struct matrix *of)
{
    *product = (struct product){.of = of};
    config_borrow(&product->config, &spec->config);
    for (size_t i = 0; i < OPTION_COUNT; i++) {
        enum option_id id = (enum option_id)i;
        const struct value *own = &of->own.config.values[i];
        if (own->set)
            put_value(&product->config, id, own);
        else if (is_displaced(of, id) && !matrix_gives(of, id))
            put_value(&product->config, id, &spec->presets.values[i]);
    }
    add_axes(product, spec->matrix, of);
}

static enum status count_combinations(const struct product *product, size_t before, size_t *n,
                                      struct error *e)
{
    *n = 1;
    for (size_t i = 0; i < product->n_ways; i++)
        if ((*n *= product->lengths[i]) > POINTS_MAX)
            break;
    if (*n + before <= POINTS_MAX)
        return OK;
    struct mark mark =
        product->n_axes > 0 ? product->axes[product->n_axes - 1]->mark : product->of->mark;
    return mark_error(e, ERR_SPEC, mark, "the matrix has more than %d points", POINTS_MAX);
}

/* Combination number `index`, the last axis running fastest. */
static void combine(struct point *point, const struct product *product, size_t index)
{
    size_t at[OPTION_COUNT];
    for (size_t way = product->n_ways; way-- > 0;) {
        at[way] = index % product->lengths[way];
        index /= product->lengths[way];
    }
    *point = (struct point){.of = product->of};
    config_borrow(&point->config, &product->config);
    for (size_t i = 0; i < product->n_axes; i++)
        put_value(&point->config, product->axes[i]->id,
                  &product->axes[i]->values[at[product->ways[i]]]);
    point->case_name = product->of->label != NULL ? product->of->label : "";
}

static bool matches_any(struct selection *excludes, size_t n, const struct point *point)
{
    bool excluded = false;
    for (size_t i = 0; i < n; i++)
        if (selection_matches(&excludes[i], point)) {
            excludes[i].matches++;
            excluded = true;
        }
    return excluded;
}

static bool is_excluded(const struct spec *spec, const struct point *point)
{
    const struct matrix *all = spec->matrix, *of = point->of;
    bool excluded = matches_any(all->excludes, all->n_excludes, point);
    return (of != all && matches_any(of->excludes, of->n_excludes, point)) || excluded;
}

static enum status check_matches(const struct spec *spec, const struct matrix *of, struct error *e)
{
    for (size_t i = 0, next; i < of->n_excludes; i = next) {
        size_t matches = of->excludes[i].matches;
        for (next = i + 1; next < of->n_excludes && of->excludes[next].goes_on; next++)
            matches += of->excludes[next].matches;
        if (matches == 0 && !selection_is_open(&of->excludes[i], spec))
            return mark_error(e, ERR_SPEC, of->excludes[i].mark,
                              "this exclude matches no point of the %s",
                              of == spec->matrix ? "matrix" : "case");
    }
    return OK;
}

static enum status check_excludes(const struct spec *spec, struct error *e)
{
    const struct matrix *all = spec->matrix, *of = all;
    TRY(check_matches(spec, all, e));
    for (size_t i = 0; i < all->n_cases; i++) {
        TRY(check_matches(spec, &all->cases[i], e));
        of = of->n_excludes == 0 ? &all->cases[i] : of;
    }
    if (spec->n_points == 0)
        return mark_error(e, ERR_SPEC, of->excludes[0].mark,
                          "exclude leaves no point of the matrix");
    return OK;
}

/* Room for `n` points behind those that there are; it takes no memory before they are written. */
static enum status grow_points(struct spec *spec, size_t n, struct error *e)
{
    struct point *points = reallocarray(spec->points, spec->n_points + n, sizeof *points);
    if (points == NULL)
        return error_no_memory(e, "points");
    spec->points = points;
    return OK;
}

static enum status expand_case(struct spec *spec, const struct matrix *of, struct error *e)
{
    struct product product;
    size_t combinations;
    open_product(&product, spec, of);
    TRY(count_combinations(&product, spec->n_points, &combinations, e));
    TRY(grow_points(spec, combinations, e));
    for (size_t i = 0; i < combinations; i++) {
        struct point *point = &spec->points[spec->n_points];
        combine(point, &product, i);
        enum status status = nodes_resolve_point(&point->config, spec, e);
        THEN(status, compute_resolve_point(&point->config, spec, e));
        if (status != OK || is_excluded(spec, point)) {
            config_free(&point->config);
            TRY(status);
            continue;
        }
        point->requested = true;
        identify(point, spec);
        spec->n_points++;
    }
    return OK;
}

static enum status expand_matrix(struct spec *spec, struct error *e)
{
    const struct matrix *all = spec->matrix;
    if (all->n_cases == 0)
        TRY(expand_case(spec, all, e));
    for (size_t i = 0; i < all->n_cases; i++)
        TRY(expand_case(spec, &all->cases[i], e));
    return check_excludes(spec, e);
}

/* ---- Bases ---- */

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

/* Without `baseline:` the first point with the fewest ranks that solves the same problem; one of
 * its own case comes before others of as few. */
static void choose_base(struct spec *spec, size_t i, struct alike *problems, struct alike *own)
{
    struct point *point = &spec->points[i];
    size_t best = *alike_of(problems, point), best_own = *alike_of(own, point);
    point->base_index = ranks_of(spec, best_own) == ranks_of(spec, best) ? best_own : best;
}

static enum status choose_bases(struct spec *spec, struct error *e)
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

/* What its case says, else what the spec says; NULL where neither does. */
static const struct selection *baseline_of(const struct spec *spec, const struct point *point)
{
    const struct matrix *of = point->of->has_baseline ? point->of : spec->matrix;
    return of->has_baseline ? &of->baseline : NULL;
}

/* The point with the baseline's values applied. On error nothing is left in it. */
static enum status make_base(struct point *base, const struct spec *spec, const struct point *point,
                             const struct selection *baseline, struct error *e)
{
    *base = (struct point){.of = point->of, .case_name = point->case_name};
    config_borrow(&base->config, &point->config);
    for (size_t i = 0; i < OPTION_COUNT; i++)
        if (baseline->config.values[i].set)
            put_value(&base->config, (enum option_id)i, &baseline->config.values[i]);
    enum status status = nodes_resolve_base(&base->config, &baseline->config, spec, e);
    THEN(status, compute_resolve_base(&base->config, baseline, spec, point->of, e));
    if (status == OK)
        identify(base, spec);
    else
        config_free(&base->config);
    return status;
}

/* Points by their identity: those of the same case, and any. */
struct known {
    struct alike *own, *any;
};

/* What was added for points of several cases is none of the first one's. */
static void share(struct point *added, const struct point *with)
{
    if (!added->requested && strcmp(added->case_name, with->case_name) != 0)
        added->case_name = "";
}

/* Makes the base of points[i], or finds it among those that are known. */
static enum status place_base(struct spec *spec, size_t i, const struct known *known,
                              struct error *e)
{
    const struct selection *baseline = baseline_of(spec, &spec->points[i]);
    struct point base;
    if (baseline == NULL)
        return OK;
    TRY(make_base(&base, spec, &spec->points[i], baseline, e));
    size_t *own = alike_of(known->own, &base), *any = alike_of(known->any, &base);
    size_t index = *own != ALIKE_NONE ? *own : *any;
    if (index == ALIKE_NONE) {
        *own = *any = index = base.base_index = spec->n_points;
        spec->points[spec->n_points++] = base;
    } else {
        config_free(&base.config);
    }
    spec->points[i].base_index = index;
    share(&spec->points[index], &spec->points[i]);
    return OK;
}

/* Moves the added points, which lie behind the first `requested`, to the front. */
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

static void note_first(struct alike *alike, const struct point *point, size_t i)
{
    size_t *first = alike_of(alike, point);
    if (*first == ALIKE_NONE)
        *first = i;
}

/* Bases that the matrix lacks. */
static enum status add_bases(struct spec *spec, struct error *e)
{
    size_t requested = spec->n_points;
    struct known known = {NULL, NULL};
    TRY(grow_points(spec, requested, e));
    enum status status = alike_make(&known.any, spec, NULL, 2 * requested, e);
    THEN(status, alike_make(&known.own, spec, NULL, 2 * requested, e));
    if (status == OK)
        alike_by_case(known.own);
    for (size_t i = 0; i < requested && status == OK; i++) {
        note_first(known.any, &spec->points[i], i);
        note_first(known.own, &spec->points[i], i);
    }
    for (size_t i = 0; i < requested && status == OK; i++)
        status = place_base(spec, i, &known, e);
    alike_free(known.any);
    alike_free(known.own);
    return status == OK ? bring_forward(spec, requested, e) : status;
}

/* ---- Points that communicate nothing, and peers ---- */

static bool is_not_sync(const struct spec_option *option)
{
    return !scope_is_campaign(option->scope) && strncmp(option->key, "sync.", 5) != 0;
}

static bool is_silent(const struct point *point)
{
    return config_int(&point->config, OPT_STRATEGY) == STRATEGY_none &&
           !config_is_foreign(&point->config) && !config_calibrates(&point->config);
}

static bool is_not_workload(const struct spec_option *option)
{
    return !scope_is_campaign(option->scope) && option->id != OPT_WORKLOAD;
}

static bool is_peer(const struct point *point)
{
    return config_is_peer(&point->config);
}

/* Which points are of one kind, and which of a kind are looked for. */
struct search {
    bool (*counts)(const struct spec_option *option);
    bool (*fits)(const struct point *point);
};
static const struct search silent_points = {is_not_sync, is_silent};
static const struct search peers = {is_not_workload, is_peer};

/* The first point of each kind that fits; `most` points will be asked about. */
static enum status find_first(struct alike **first, const struct spec *spec,
                              const struct search *search, size_t most, struct error *e)
{
    enum status status = alike_make(first, spec, search->counts, most, e);
    for (size_t i = 0; i < spec->n_points && status == OK; i++)
        if (search->fits(&spec->points[i]))
            note_first(*first, &spec->points[i], i);
    return status;
}

/* Into the index at `offset` of each point: the first of its kind that fits, its own where there is
 * none or it fits itself. */
static enum status find_partners(struct spec *spec, const struct search *search, size_t offset,
                                 struct error *e)
{
    struct alike *first;
    enum status status = find_first(&first, spec, search, spec->n_points, e);
    for (size_t i = 0; i < spec->n_points && status == OK; i++) {
        struct point *point = &spec->points[i];
        size_t partner = *alike_of(first, point);
        *(size_t *)((char *)point + offset) =
            partner == ALIKE_NONE || search->fits(point) ? i : partner;
    }
    alike_free(first);
    return status;
}

static enum status set_text(struct config *config, enum option_id id, const char *text,
                            struct error *e)
{
    return config_set(config, option_get(id), text, config->values[id].mark, e);
}

/* Strategy none has neither variants nor overlap. */
static enum status silence(struct config *config, struct error *e)
{
    TRY(set_text(config, OPT_STRATEGY, names_strategies->names[STRATEGY_none], e));
    TRY(set_text(config, OPT_VARIANT, option_get(OPT_VARIANT)->preset, e));
    return set_text(config, OPT_OVERLAP, option_get(OPT_OVERLAP)->preset, e);
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
        identify(silent, spec);
    return status;
}

/* For those whose calls are replayed: what they are compared with. */
static enum status add_silent(struct spec *spec, struct error *e)
{
    size_t requested = spec->n_points;
    struct alike *known;
    TRY(grow_points(spec, requested, e));
    enum status status = find_first(&known, spec, &silent_points, 2 * requested, e);
    for (size_t i = 0; i < requested && status == OK; i++) {
        struct point *point = &spec->points[i];
        bool wanted = config_int(&point->config, OPT_REPLAY) > 0 &&
                      config_int(&point->config, OPT_RANKS) > 1 && !is_silent(point) &&
                      !config_is_foreign(&point->config);
        size_t *silent = alike_of(known, point);
        if (wanted && *silent != ALIKE_NONE)
            share(&spec->points[*silent], point);
        if (!wanted || *silent != ALIKE_NONE)
            continue;
        status = make_silent(&spec->points[spec->n_points], spec, point, e);
        if (status == OK)
            *silent = spec->n_points++;
    }
    alike_free(known);
    return status;
}

/* ---- Calibrations ---- */

static enum status make_calibration(struct point *calibration, const struct spec *spec,
                                    const struct point *point, struct error *e)
{
    *calibration = (struct point){.of = point->of, .case_name = point->case_name};
    config_borrow(&calibration->config, &point->config);
    enum status status = compute_calibrate(&calibration->config, spec, e);
    if (status != OK)
        config_free(&calibration->config);
    else
        identify(calibration, spec);
    return status;
}

/* Finds the point by whose times points[i] goes, or adds it behind all others. */
static enum status place_calibration(struct spec *spec, size_t i, struct alike *known,
                                     struct error *e)
{
    struct point calibration;
    TRY(make_calibration(&calibration, spec, &spec->points[i], e));
    size_t *found = alike_of(known, &calibration);
    if (*found != ALIKE_NONE) {
        config_free(&calibration.config);
    } else {
        *found = calibration.base_index = calibration.calibration_index = spec->n_points;
        spec->points[spec->n_points++] = calibration;
    }
    spec->points[i].calibration_index = *found;
    share(&spec->points[*found], &spec->points[i]);
    return OK;
}

/* Points of replayed compute go by times of others, which are added where the matrix lacks them. */
static enum status add_calibrations(struct spec *spec, struct error *e)
{
    size_t n = spec->n_points;
    struct alike *known;
    TRY(grow_points(spec, n, e));
    enum status status = alike_make(&known, spec, NULL, 2 * n, e);
    for (size_t i = 0; i < n && status == OK; i++) {
        spec->points[i].calibration_index = i;
        note_first(known, &spec->points[i], i);
    }
    for (size_t i = 0; i < n && status == OK; i++)
        if (compute_is_calibrated(&spec->points[i].config))
            status = place_calibration(spec, i, known, e);
    alike_free(known);
    return status;
}

/* ---- What varies ---- */

static enum status list_varying(struct spec *spec, struct error *e)
{
    TRY(MEM_NEW(spec->varying, OPTION_COUNT, "the points", e));
    for (size_t i = 0; i < OPTION_COUNT; i++)
        if (!option_is_derived((enum option_id)i) && option_differs(spec, (enum option_id)i, true))
            spec->varying[spec->n_varying++] = (enum option_id)i;
    return OK;
}

/* Appends "ranks=2", or "allreduce" where the value speaks for itself. */
static void extend_label(struct point *point, const struct spec_option *option)
{
    size_t used = strlen(point->label), room = sizeof point->label - used;
    const char *dot = strrchr(option->key, '.'), *text = point->config.values[option->id].text;
    bool plain = option->id == OPT_WORKLOAD || option->id == OPT_STRATEGY ||
                 option->id == OPT_VARIANT || option->id == OPT_MODEL || option->id == OPT_COMPRESS;
    snprintf(point->label + used, room, "%s%s%s%s", used > 0 ? " " : "",
             plain ? "" : (dot != NULL ? dot + 1 : option->key), plain ? "" : "=", text);
}

/* What one option does in each case, or in a spec without cases. */
struct in_case {
    const struct value *first; /* of its points */
    bool differs;
};

static size_t case_index(const struct spec *spec, const struct point *point)
{
    return point->of == spec->matrix ? 0 : (size_t)(point->of - spec->matrix->cases);
}

static void look_at_option(struct in_case *cases, const struct spec *spec, enum option_id id)
{
    size_t n = spec->matrix->n_cases;
    memset(cases, 0, (n + 1) * sizeof *cases);
    for (size_t i = 0; i < spec->n_points; i++) {
        const struct value *value = &spec->points[i].config.values[id];
        struct in_case *in = &cases[case_index(spec, &spec->points[i])];
        if (config_calibrates(&spec->points[i].config))
            continue;
        in->differs = in->differs || (in->first != NULL && !value_equal(in->first, value));
        in->first = value;
    }
}

/* Of a calibration: what it computes, and on how many ranks at once. */
static bool is_calibrated_over(enum option_id id, bool differs)
{
    if (id == OPT_RANKS || id == OPT_BATCH_PER_RANK)
        return true;
    return differs && id < OPT_OWN && id != OPT_COMPUTE && id != OPT_GLOBAL_BATCH &&
           strncmp(option_get(id)->key, "sync.", 5) != 0;
}

/* What a label says besides its case: what varies within that, or in a spec without cases. A
 * strategy's usual variant goes without saying; another does where the name of a case stands for it;
 * and so with compressors. */
static void label_option(struct spec *spec, struct in_case *cases, enum option_id id)
{
    bool unusual = id == OPT_VARIANT || id == OPT_COMPRESS;
    const char *preset = spec->presets.values[id].text;
    look_at_option(cases, spec, id);
    for (size_t i = 0; i < spec->n_points; i++) {
        struct point *point = &spec->points[i];
        bool other = unusual && strcmp(config_text(&point->config, id), preset) != 0;
        bool differs = cases[case_index(spec, point)].differs;
        if (config_calibrates(&point->config))
            differs = is_calibrated_over(id, differs);
        if (unusual ? other && (differs || point->case_name[0] == '\0') : differs)
            extend_label(point, config_option(&spec->config, id));
    }
}

/* Its case; a base that several cases share has none. */
static const char *first_word(const struct spec *spec, const struct point *point)
{
    if (config_calibrates(&point->config))
        return "calibration";
    bool shared = spec->matrix->n_cases > 0 && point->case_name[0] == '\0';
    return shared && point->base ? "base" : point->case_name;
}

/* Ranks come first: that is how people look for a point. */
static enum status label_points(struct spec *spec, struct error *e)
{
    struct in_case *cases;
    TRY(MEM_NEW(cases, spec->matrix->n_cases + 1, "the labels of points", e));
    for (size_t i = 0; i < spec->n_points; i++)
        snprintf(spec->points[i].label, sizeof spec->points[i].label, "%s",
                 first_word(spec, &spec->points[i]));
    label_option(spec, cases, OPT_RANKS);
    for (size_t id = 0; id < OPTION_COUNT; id++)
        if (id != OPT_RANKS && !option_is_derived((enum option_id)id))
            label_option(spec, cases, (enum option_id)id);
    for (size_t i = 0; i < spec->n_points; i++)
        if (spec->points[i].label[0] == '\0')
            extend_label(&spec->points[i], option_get(OPT_RANKS));
    free(cases);
    return OK;
}

static bool has_baseline(const struct spec *spec)
{
    for (size_t i = 0; i < spec->n_points; i++)
        if (baseline_of(spec, &spec->points[i]) != NULL)
            return true;
    return false;
}

static enum status find_twins(struct spec *spec, struct error *e)
{
    TRY(alike_make(&spec->identities, spec, NULL, spec->n_points, e));
    for (size_t i = 0; i < spec->n_points; i++) {
        note_first(spec->identities, &spec->points[i], i);
        spec->points[i].twin = *alike_of(spec->identities, &spec->points[i]);
        if (!config_calibrates(&spec->points[i].config))
            spec->points[spec->points[i].base_index].base = true;
    }
    return OK;
}

enum status expand_points(struct spec *spec, struct error *e)
{
    TRY(expand_matrix(spec, e));
    TRY(add_silent(spec, e));
    TRY(choose_bases(spec, e));
    if (has_baseline(spec))
        TRY(add_bases(spec, e));
    TRY(add_calibrations(spec, e));
    TRY(find_partners(spec, &silent_points, offsetof(struct point, silent_index), e));
    TRY(find_partners(spec, &peers, offsetof(struct point, peer_index), e));
    TRY(find_twins(spec, e));
    TRY(label_points(spec, e));
    return list_varying(spec, e);
}

size_t spec_find_point(const struct spec *spec, const char *id)
{
    size_t found = alike_find(spec->identities, id);
    return found == ALIKE_NONE ? spec->n_points : found;
}
