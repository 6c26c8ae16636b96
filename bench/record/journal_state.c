/* Applies the lines of a journal to its lists in memory, both when the file is read and when a line
 * is added. */
#include "bench/record/journal_state.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/base/json.h"
#include "kernels/base/mem.h"
#include "kernels/base/names.h"

const char *const journal_runs[] = {"time", "accuracy"};
const char *const journal_statuses[] = {"running", "ok", "failed", "timeout", "diverged"};

/* ---- Numbers ---- */

/* Members of type double that a line "done" contains if they are known: name in the line, and
 * offset in struct journal_launch. */
static const struct {
    const char *name;
    size_t offset;
} numbers[] = {
#define NUMBER(name, member)               {#name, offsetof(struct journal_launch, member)},
#define NOISE(id, unit, launches, meaning) NUMBER(id, noise.id)
    NUMBER(foreign_pct, foreign_pct) NUMBER(step_ms, step_ms) NUMBER(images, images)
        NUMBER(comm_replay_ms, comm_replay_ms)
#include "bench/record/noise.def"
};

enum { NUMBERS = sizeof numbers / sizeof *numbers };

void journal_write_numbers(json_t *line, const struct journal_launch *ended)
{
    for (int i = 0; i < NUMBERS; i++)
        json_set_known(line, numbers[i].name,
                       *(const double *)((const char *)ended + numbers[i].offset));
}

/* ---- Lists ---- */

/* Enters launch i into the index by name, in place of an earlier launch of that name. The index
 * must have room. */
static void enter_launch(struct journal *j, size_t i)
{
    ENTRY *entry;
    hsearch_r((ENTRY){.key = j->launches[i].launch}, ENTER, &entry, &j->names);
    entry->key = j->launches[i].launch;
    entry->data = (void *)i;
}

/* Rebuilds the index of launches by name after MEM_GROW has reallocated j->launches, which the
 * index points into. The new index has room for twice the present launches. */
static enum status grow_names(struct journal *j, struct error *e)
{
    size_t room = j->n_launches > 0 ? 2 * j->n_launches : 1;
    if (j->n_launches > 0)
        hdestroy_r(&j->names);
    j->names = (struct hsearch_data){0};
    if (!hcreate_r(room + room / 2 + 1, &j->names))
        return error_no_memory(e, "the journal");
    for (size_t i = 0; i < j->n_launches; i++)
        enter_launch(j, i);
    return OK;
}

static enum status add_launch(struct journal *j, const struct journal_launch *launch,
                              struct error *e)
{
    TRY(MEM_GROW(j->launches, j->n_launches, "the journal", e));
    if ((j->n_launches & (j->n_launches - 1)) == 0)
        TRY(grow_names(j, e));
    j->launches[j->n_launches] = *launch;
    enter_launch(j, j->n_launches++);
    return OK;
}

/* ---- Launches ---- */

/* Values of the members that are unknown while a launch is running. */
static const struct journal_launch not_ended = {.status = LAUNCH_RUNNING,
                                                .foreign_pct = NAN,
                                                .exit_status = -1,
                                                .step_ms = NAN,
                                                .images = NAN,
                                                .comm_replay_ms = NAN,
                                                .noise = {
#define NOISE(id, unit, launches, meaning) .id = NAN,
#include "bench/record/noise.def"
                                                }};

struct journal_launch *journal_find_launch(struct journal *j, const char *name)
{
    ENTRY *entry;
    if (j->n_launches == 0 || !hsearch_r((ENTRY){.key = (char *)name}, FIND, &entry, &j->names))
        return NULL;
    return &j->launches[(size_t)entry->data];
}

/* Copies from `ended` the members that are known only at the end of a launch, and clears
 * `retried`. */
static void end_launch(struct journal_launch *launch, const struct journal_launch *ended)
{
    launch->status = ended->status;
    launch->retried = false;
    memcpy(launch->reason, ended->reason, sizeof launch->reason);
    launch->wall_s = ended->wall_s;
    launch->foreign_pct = ended->foreign_pct;
    launch->exit_status = ended->exit_status;
    launch->step_ms = ended->step_ms;
    launch->images = ended->images;
    launch->comm_replay_ms = ended->comm_replay_ms;
    launch->noise = ended->noise;
}

/* ---- Lines ---- */

static enum status take_running(struct journal *j, const json_t *line, struct error *e)
{
    const char *launch, *point, *run;
    json_int_t block, seed;
    struct journal_launch l = not_ended;
    if (json_unpack((json_t *)line, "{s:s, s:s, s:s, s:I, s:I}", "launch", &launch, "point", &point,
                    "run", &run, "block", &block, "seed", &seed) != 0)
        return error_set(e, ERR_DATA,
                         "event 'running': expected the keys 'launch', 'point', 'run', 'block' and "
                         "'seed'");
    int run_index = name_index(run, journal_runs, 2);
    if (run_index < 0)
        return error_set(e, ERR_DATA, "the key 'run' must be time or accuracy");
    if (strlen(launch) >= sizeof l.launch || strlen(point) >= sizeof l.point)
        return error_set(e, ERR_DATA, "the name of a launch or point is too long");
    strcpy(l.launch, launch);
    strcpy(l.point, point);
    snprintf(l.key, sizeof l.key, "%s", json_text_of(line, "key"));
    l.run = (enum launch_run)run_index;
    l.block = (int)block;
    l.seed = (uint64_t)seed;
    l.shares_cores = json_is_true(json_object_get(line, "shares_cores"));
    j->finished = false; /* an earlier command with fewer launches may have set `finished` */
    snprintf(l.at, sizeof l.at, "%s", json_text_of(line, "at"));
    return add_launch(j, &l, e);
}

static enum status take_done(struct journal *j, const json_t *line, struct error *e)
{
    const char *launch, *status, *reason;
    struct journal_launch ended = not_ended;
    if (json_unpack((json_t *)line, "{s:s, s:s, s:s, s:F}", "launch", &launch, "status", &status,
                    "reason", &reason, "wall_s", &ended.wall_s) != 0)
        return error_set(e, ERR_DATA,
                         "event 'done': expected the keys 'launch', 'status', 'reason' and "
                         "'wall_s'");
    struct journal_launch *l = journal_find_launch(j, launch);
    int status_index =
        name_index(status, journal_statuses, sizeof journal_statuses / sizeof *journal_statuses);
    if (l == NULL || l->status != LAUNCH_RUNNING)
        return error_set(e, ERR_DATA, "event 'done': expected the name of a running launch");
    if (status_index <= LAUNCH_RUNNING)
        return error_set(e, ERR_DATA, "the key 'status' must be ok, failed, timeout or diverged");
    const json_t *exit_status = json_object_get(line, "exit_status");
    snprintf(ended.reason, sizeof ended.reason, "%s", reason);
    ended.status = (enum launch_status)status_index;
    for (int i = 0; i < NUMBERS; i++)
        *(double *)((char *)&ended + numbers[i].offset) = json_known(line, numbers[i].name);
    if (json_is_integer(exit_status))
        ended.exit_status = (int)json_integer_value(exit_status);
    end_launch(l, &ended);
    return OK;
}

/* Applies the event "retry". A launch that is done becomes unfinished again, so that it is
 * repeated. A failed launch is kept and marked as retried. ERR_DATA if the launch is unknown, still
 * running or already retried. */
static enum status take_retry(struct journal *j, const json_t *line, struct error *e)
{
    struct journal_launch *launch = journal_find_launch(j, json_text_of(line, "launch"));
    if (launch == NULL || launch->status == LAUNCH_RUNNING || launch->retried)
        return error_set(e, ERR_DATA,
                         "event 'retry': this launch is unknown, still running or already retried");
    if (launch_is_done(launch))
        end_launch(launch, &not_ended);
    else
        launch->retried = true;
    j->finished = false;
    return OK;
}

static enum status take_skipped(struct journal *j, const json_t *line, struct error *e)
{
    const char *point, *reason;
    if (json_unpack((json_t *)line, "{s:s, s:s}", "point", &point, "reason", &reason) != 0)
        return error_set(e, ERR_DATA, "event 'skipped': expected the keys 'point' and 'reason'");
    TRY(MEM_GROW(j->skips, j->n_skips, "the journal", e));
    struct journal_skip *skip = &j->skips[j->n_skips++];
    snprintf(skip->point, sizeof skip->point, "%s", point);
    snprintf(skip->reason, sizeof skip->reason, "%s", reason);
    return OK;
}

/* Returns ERR_DATA unless every element of `points` is a string that fits into
 * journal_block.points. */
static enum status check_points(const json_t *points, struct error *e)
{
    size_t i;
    json_t *point;
    json_array_foreach(points, i, point)
    {
        const char *id = json_string_value(point);
        size_t room = sizeof(*(struct journal_block *)0).points[0];
        if (id == NULL || strlen(id) >= room)
            return error_set(e, ERR_DATA,
                             "the name of a point must be a string of at most %zu bytes", room - 1);
    }
    return OK;
}

static enum status take_block(struct journal *j, const json_t *line, struct error *e)
{
    json_int_t block;
    json_t *points;
    if (json_unpack((json_t *)line, "{s:I, s:o}", "block", &block, "points", &points) != 0 ||
        !json_is_array(points) || block < 0 || block > INT_MAX)
        return error_set(e, ERR_DATA,
                         "event 'block': expected the keys 'block' (a number from 0) and 'points' "
                         "(a list)");
    TRY(check_points(points, e));
    struct journal_block begun = {
        .block = (int)block, .n_points = json_array_size(points), .first_launch = j->n_launches};
    TRY(MEM_GROW(j->blocks, j->n_blocks, "the journal", e));
    TRY(MEM_NEW(begun.points, begun.n_points, "the journal", e));
    for (size_t i = 0; i < begun.n_points; i++)
        strcpy(begun.points[i], json_string_value(json_array_get(points, i)));
    j->blocks[j->n_blocks++] = begun;
    return OK;
}

static enum status take_able(struct journal *j, const json_t *line, struct error *e)
{
    const char *point = json_string_value(json_object_get(line, "point"));
    size_t kept = 0;
    if (point == NULL)
        return error_set(e, ERR_DATA, "event 'able': expected the key 'point'");
    for (size_t i = 0; i < j->n_skips; i++)
        if (strcmp(j->skips[i].point, point) != 0)
            j->skips[kept++] = j->skips[i];
    j->n_skips = kept;
    return OK;
}

static enum status find_key(struct journal *j, const char *point, struct journal_key **key,
                            struct error *e)
{
    for (size_t i = 0; i < j->n_keys; i++)
        if (strcmp(j->keys[i].point, point) == 0) {
            *key = &j->keys[i];
            return OK;
        }
    TRY(MEM_GROW(j->keys, j->n_keys, "the journal", e));
    *key = &j->keys[j->n_keys++];
    strcpy((*key)->point, point);
    return OK;
}

static enum status take_key(struct journal *j, const json_t *line, struct error *e)
{
    const char *point, *name;
    struct journal_key *key;
    if (json_unpack((json_t *)line, "{s:s, s:s}", "point", &point, "key", &name) != 0)
        return error_set(e, ERR_DATA, "event 'key': expected the members 'point' and 'key'");
    if (strlen(point) >= sizeof key->point || strlen(name) >= sizeof key->key)
        return error_set(e, ERR_DATA, "event 'key': 'point' or 'key' is too long");
    TRY(find_key(j, point, &key, e));
    strcpy(key->key, name);
    j->finished = false;
    return OK;
}

static enum status take_finished(struct journal *j, const json_t *line, struct error *e)
{
    j->finished = true;
    return OK;
}

static const struct {
    const char *name;
    enum status (*take)(struct journal *j, const json_t *line, struct error *e);
} events[] = {{"block", take_block}, {"running", take_running},  {"done", take_done},
              {"retry", take_retry}, {"skipped", take_skipped},  {"able", take_able},
              {"key", take_key},     {"finished", take_finished}};

enum status journal_take_line(struct journal *j, const json_t *line, struct error *e)
{
    const char *event = json_string_value(json_object_get(line, "event"));
    if (event == NULL)
        return error_set(e, ERR_DATA, "the key 'event' is missing");
    for (size_t i = 0; i < sizeof events / sizeof *events; i++)
        if (strcmp(events[i].name, event) == 0)
            return events[i].take(j, line, e);
    return error_set(e, ERR_DATA,
                     "the key 'event' must be block, running, done, retry, skipped, able, key or "
                     "finished");
}

/* ---- Keys ---- */

static int compare_keys(const void *a, const void *b)
{
    const struct journal_key *x = a, *y = b;
    return strcmp(x->point, y->point);
}

void journal_find_outdated(struct journal *j, const char *point)
{
    if (j->n_keys > 0)
        qsort(j->keys, j->n_keys, sizeof *j->keys, compare_keys);
    for (size_t i = 0; i < j->n_launches && j->n_keys > 0; i++) {
        struct journal_key of;
        if (point != NULL && strcmp(j->launches[i].point, point) != 0)
            continue;
        snprintf(of.point, sizeof of.point, "%s", j->launches[i].point);
        const struct journal_key *key =
            bsearch(&of, j->keys, j->n_keys, sizeof *j->keys, compare_keys);
        if (key != NULL)
            /* a launch of an earlier version has no key and is never outdated */
            j->launches[i].outdated =
                j->launches[i].key[0] != '\0' && strcmp(j->launches[i].key, key->key) != 0;
    }
}
