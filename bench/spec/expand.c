#include "bench/spec/expand.h"

#include <sha256.h>
#include <stdlib.h>
#include <string.h>

#include "bench/spec/alike.h"
#include "bench/spec/matrix.h"
#include "bench/spec/value.h"
#include "kernels/base/mem.h"

/* A point takes some 10 KiB: 640 MiB at most. */
#define POINTS_MAX 65536

/* Initial weights are part of a problem; when and where they are written is not. */
static bool is_checkpointing(const struct spec_option *option)
{
    return strncmp(option->key, "checkpoint.", 11) == 0 && option->id != OPT_CHECKPOINT_START;
}

bool option_is_problem(const struct spec_option *option)
{
    return !scope_is_campaign(option->scope) && !is_checkpointing(option) &&
           option->id != OPT_RANKS && option->id != OPT_NODES &&
           strncmp(option->key, "place.", 6) != 0 && strncmp(option->key, "sync.", 5) != 0 &&
           strncmp(option->key, "inject.", 7) != 0;
}

/* ---- Identity ---- */

/* 12 hexadecimal digits of the SHA-256 over "key=value\n" of what a point may differ in. */
static void identify(struct point *point, const struct spec *spec)
{
    SHA256_CTX context;
    point->net = spec_input_find(spec, OPT_MODEL, config_text(&point->config, OPT_MODEL));
    SHA256_Init(&context);
    for (size_t i = 0; i < OPTION_COUNT; i++) {
        const struct spec_option *option = option_get((enum option_id)i);
        const char *text = point->config.values[i].text;
        if (scope_is_campaign(option->scope))
            continue;
        if (i == OPT_MODEL && point->net != NULL)
            text = point->net->digest;
        SHA256_Update(&context, (const uint8_t *)option->key, strlen(option->key));
        SHA256_Update(&context, (const uint8_t *)"=", 1);
        SHA256_Update(&context, (const uint8_t *)text, strlen(text));
        SHA256_Update(&context, (const uint8_t *)"\n", 1);
    }
    char digest[SHA256_DIGEST_STRING_LENGTH];
    SHA256_End(&context, digest);
    snprintf(point->id, sizeof point->id, "%.12s", digest);
}

/* ---- The matrix ---- */

static enum status count_combinations(const struct spec *spec, size_t *n, struct error *e)
{
    *n = 1;
    for (size_t i = 0; i < spec->matrix->n_axes; i++) {
        const struct axis *axis = &spec->matrix->axes[i];
        *n *= axis->n;
        if (*n > POINTS_MAX)
            return mark_error(e, ERR_SPEC, axis->mark, "the matrix has more than %d points",
                              POINTS_MAX);
    }
    return OK;
}

static enum status put_value(struct config *config, enum option_id id, const struct value *value,
                             struct error *e)
{
    value_free(&config->values[id]);
    return value_copy(&config->values[id], value, e);
}

/* Combination number `index`, the last axis running fastest. */
static enum status combine(struct config *config, const struct spec *spec, size_t index,
                           struct error *e)
{
    TRY(config_copy(config, &spec->config, e));
    for (size_t i = spec->matrix->n_axes; i-- > 0;) {
        const struct axis *axis = &spec->matrix->axes[i];
        TRY(put_value(config, axis->id, &axis->values[index % axis->n], e));
        index /= axis->n;
    }
    return OK;
}

static bool is_excluded(struct matrix *matrix, const struct config *config)
{
    bool excluded = false;
    for (size_t i = 0; i < matrix->n_excludes; i++)
        if (selection_matches(&matrix->excludes[i], config)) {
            matrix->excludes[i].matches++;
            excluded = true;
        }
    return excluded;
}

static enum status check_excludes(const struct spec *spec, struct error *e)
{
    const struct matrix *matrix = spec->matrix;
    for (size_t i = 0, next; i < matrix->n_excludes; i = next) {
        size_t matches = matrix->excludes[i].matches;
        for (next = i + 1; next < matrix->n_excludes && matrix->excludes[next].goes_on; next++)
            matches += matrix->excludes[next].matches;
        if (matches == 0 && !selection_is_open(&matrix->excludes[i], spec))
            return mark_error(e, ERR_SPEC, matrix->excludes[i].mark,
                              "this exclude matches no point of the matrix");
    }
    if (spec->n_points == 0)
        return mark_error(e, ERR_SPEC, matrix->excludes[0].mark,
                          "exclude leaves no point of the matrix");
    return OK;
}

static enum status expand_matrix(struct spec *spec, struct error *e)
{
    size_t combinations;
    TRY(count_combinations(spec, &combinations, e));
    TRY(MEM_NEW(spec->points, combinations, "points", e));
    for (size_t i = 0; i < combinations; i++) {
        struct point *point = &spec->points[spec->n_points];
        enum status status = combine(&point->config, spec, i, e);
        if (status != OK || is_excluded(spec->matrix, &point->config)) {
            config_free(&point->config);
            TRY(status);
            continue;
        }
        point->requested = true;
        identify(point, spec);
        spec->n_points++;
    }
    return check_excludes(spec, e);
}

/* ---- Bases ---- */

/* Without `baseline:` the first point with the fewest ranks that solves the same problem. */
static enum status choose_bases(struct spec *spec, struct error *e)
{
    struct alike *problems;
    enum status status = alike_make(&problems, spec, option_is_problem, spec->n_points, e);
    for (size_t i = 0; i < spec->n_points && status == OK; i++) {
        size_t *best = alike_of(problems, &spec->points[i]);
        if (*best == ALIKE_NONE || config_int(&spec->points[i].config, OPT_RANKS) <
                                       config_int(&spec->points[*best].config, OPT_RANKS))
            *best = i;
    }
    for (size_t i = 0; i < spec->n_points && status == OK; i++)
        spec->points[i].base_index = *alike_of(problems, &spec->points[i]);
    alike_free(problems);
    return status;
}

/* The point with the baseline's values applied. */
static enum status make_base(struct point *base, const struct spec *spec, const struct point *point,
                             struct error *e)
{
    const struct selection *baseline = &spec->matrix->baseline;
    memset(base, 0, sizeof *base);
    enum status status = config_copy(&base->config, &point->config, e);
    for (size_t i = 0; i < OPTION_COUNT && status == OK; i++)
        if (baseline->config.values[i].set)
            status = put_value(&base->config, (enum option_id)i, &baseline->config.values[i], e);
    if (status != OK)
        config_free(&base->config);
    else
        identify(base, spec);
    return status;
}

/* Makes the base of points[i], or finds it among those that `known` has the index of. */
static enum status place_base(struct spec *spec, size_t i, struct alike *known, struct error *e)
{
    struct point base;
    TRY(make_base(&base, spec, &spec->points[i], e));
    size_t *index = alike_of(known, &base);
    if (*index == ALIKE_NONE) {
        *index = base.base_index = spec->n_points;
        spec->points[spec->n_points++] = base;
    } else {
        config_free(&base.config);
    }
    spec->points[i].base_index = *index;
    return OK;
}

/* Moves the added points, which lie behind the first `requested`, to the front. */
static enum status bring_forward(struct spec *spec, size_t requested, struct error *e)
{
    size_t n = spec->n_points, added = n - requested;
    struct point *points;
    TRY(MEM_NEW(points, n, "points", e));
    memcpy(points, spec->points + requested, added * sizeof *points);
    memcpy(points + added, spec->points, requested * sizeof *points);
    free(spec->points);
    spec->points = points;
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

/* Room for as many points again as there are. */
static enum status double_room(struct spec *spec, struct error *e)
{
    struct point *points = reallocarray(spec->points, 2 * spec->n_points, sizeof *points);
    if (points == NULL)
        return error_no_memory(e, "points");
    spec->points = points;
    return OK;
}

static enum status add_bases(struct spec *spec, struct error *e)
{
    size_t requested = spec->n_points;
    struct alike *known;
    TRY(double_room(spec, e));
    enum status status = alike_make(&known, spec, NULL, 2 * requested, e);
    for (size_t i = 0; i < requested && status == OK; i++)
        note_first(known, &spec->points[i], i);
    for (size_t i = 0; i < requested && status == OK; i++)
        status = place_base(spec, i, known, e);
    alike_free(known);
    return status == OK ? bring_forward(spec, requested, e) : status;
}

/* ---- Points that communicate nothing, and peers ---- */

static bool is_not_sync(const struct spec_option *option)
{
    return !scope_is_campaign(option->scope) && strncmp(option->key, "sync.", 5) != 0;
}

static bool is_silent(const struct point *point)
{
    return config_int(&point->config, OPT_STRATEGY) == STRATEGY_none;
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
    memset(silent, 0, sizeof *silent);
    TRY(config_copy(&silent->config, &point->config, e));
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
    TRY(double_room(spec, e));
    enum status status = find_first(&known, spec, &silent_points, 2 * requested, e);
    for (size_t i = 0; i < requested && status == OK; i++) {
        struct point *point = &spec->points[i];
        bool wanted = config_int(&point->config, OPT_REPLAY) > 0 &&
                      config_int(&point->config, OPT_RANKS) > 1 && !is_silent(point);
        size_t *silent = alike_of(known, point);
        if (!wanted || *silent != ALIKE_NONE)
            continue;
        status = make_silent(&spec->points[spec->n_points], spec, point, e);
        if (status == OK)
            *silent = spec->n_points++;
    }
    alike_free(known);
    return status;
}

/* ---- What varies ---- */

static enum status list_varying(struct spec *spec, struct error *e)
{
    TRY(MEM_NEW(spec->varying, OPTION_COUNT, "the points", e));
    for (size_t i = 0; i < OPTION_COUNT; i++)
        if (option_differs(spec, (enum option_id)i, true))
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

/* A strategy's usual variant goes without saying, another never does; and so does no compressor. */
static void label_unusual(struct spec *spec, enum option_id id)
{
    for (size_t i = 0; i < spec->n_points; i++)
        if (strcmp(config_text(&spec->points[i].config, id), option_get(id)->preset) != 0)
            extend_label(&spec->points[i], option_get(id));
}

/* Ranks come first: that is how people look for a point. */
static void label_points(struct spec *spec)
{
    if (option_differs(spec, OPT_RANKS, false))
        for (size_t i = 0; i < spec->n_points; i++)
            extend_label(&spec->points[i], option_get(OPT_RANKS));
    for (size_t id = 0; id < OPTION_COUNT; id++)
        if (id == OPT_VARIANT || id == OPT_COMPRESS)
            label_unusual(spec, (enum option_id)id);
        else if (id != OPT_RANKS && option_differs(spec, (enum option_id)id, false))
            for (size_t i = 0; i < spec->n_points; i++)
                extend_label(&spec->points[i], option_get((enum option_id)id));
    for (size_t i = 0; i < spec->n_points; i++)
        if (spec->points[i].label[0] == '\0')
            strcpy(spec->points[i].label, "base");
}

enum status expand_points(struct spec *spec, struct error *e)
{
    TRY(expand_matrix(spec, e));
    TRY(add_silent(spec, e));
    TRY(spec->matrix->has_baseline ? add_bases(spec, e) : choose_bases(spec, e));
    TRY(find_partners(spec, &silent_points, offsetof(struct point, silent_index), e));
    TRY(find_partners(spec, &peers, offsetof(struct point, peer_index), e));
    TRY(alike_make(&spec->identities, spec, NULL, spec->n_points, e));
    for (size_t i = 0; i < spec->n_points; i++) {
        note_first(spec->identities, &spec->points[i], i);
        spec->points[spec->points[i].base_index].base = true;
    }
    label_points(spec);
    return list_varying(spec, e);
}

size_t spec_find_point(const struct spec *spec, const char *id)
{
    size_t found = alike_find(spec->identities, id);
    return found == ALIKE_NONE ? spec->n_points : found;
}
