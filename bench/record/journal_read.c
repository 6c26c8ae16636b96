/* The lines of a journal, read into its lists. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/base/file.h"
#include "bench/base/json.h"
#include "bench/record/journal_state.h"
#include "kernels/base/names.h"

/* ---- A line ---- */

/* One line being read; `why` says what is wrong with it. */
struct line {
    json_t *json;
    char why[256];
};

static bool wrong(struct line *line, const char *why)
{
    snprintf(line->why, sizeof line->why, "%s", why);
    return false;
}

static bool take_running(struct journal *j, struct line *line, struct error *e)
{
    const char *launch, *point, *run;
    json_int_t block, seed;
    struct journal_launch l = journal_not_ended;
    if (json_unpack(line->json, "{s:s, s:s, s:s, s:I, s:I}", "launch", &launch, "point", &point,
                    "run", &run, "block", &block, "seed", &seed) != 0)
        return wrong(line, "'running' needs launch, point, run, block, seed");
    int run_index = name_index(run, journal_runs, 2);
    if (run_index < 0)
        return wrong(line, "run is neither time nor accuracy");
    if (strlen(launch) >= sizeof l.launch || strlen(point) >= sizeof l.point)
        return wrong(line, "the name of a launch or point is too long");
    strcpy(l.launch, launch);
    strcpy(l.point, point);
    snprintf(l.key, sizeof l.key, "%s", json_text_of(line->json, "key"));
    l.run = (enum launch_run)run_index;
    l.block = (int)block;
    l.seed = (uint64_t)seed;
    l.shares_cores = json_is_true(json_object_get(line->json, "shares_cores"));
    j->finished = false;
    snprintf(l.at, sizeof l.at, "%s", json_text_of(line->json, "at"));
    return journal_add_launch(j, &l, e) == OK;
}

static bool take_done(struct journal *j, struct line *line, struct error *e)
{
    const char *launch, *status, *reason;
    struct journal_launch ended = journal_not_ended;
    if (json_unpack(line->json, "{s:s, s:s, s:s, s:F}", "launch", &launch, "status", &status,
                    "reason", &reason, "wall_s", &ended.wall_s) != 0)
        return wrong(line, "'done' needs launch, status, reason, wall_s");
    struct journal_launch *l = journal_find_launch(j, launch);
    int status_index =
        name_index(status, journal_statuses, sizeof journal_statuses / sizeof *journal_statuses);
    if (l == NULL || l->status != LAUNCH_RUNNING)
        return wrong(line, "'done' of a launch that is not running");
    if (status_index <= LAUNCH_RUNNING)
        return wrong(line, "status is none of ok, failed, timeout, diverged");
    const json_t *exit_status = json_object_get(line->json, "exit_status");
    snprintf(ended.reason, sizeof ended.reason, "%s", reason);
    ended.status = (enum launch_status)status_index;
    journal_read_numbers(&ended, line->json);
    if (json_is_integer(exit_status))
        ended.exit_status = (int)json_integer_value(exit_status);
    journal_end_launch(l, &ended);
    return true;
}

static bool take_retry(struct journal *j, struct line *line, struct error *e)
{
    struct journal_launch *launch = journal_find_launch(j, json_text_of(line->json, "launch"));
    if (launch == NULL || launch->status == LAUNCH_RUNNING || launch->retried)
        return wrong(line, "'retry' of a launch that has not ended");
    journal_take_back(j, launch);
    return true;
}

static bool take_skipped(struct journal *j, struct line *line, struct error *e)
{
    const char *point, *reason;
    struct journal_skip skip = {0};
    if (json_unpack(line->json, "{s:s, s:s}", "point", &point, "reason", &reason) != 0)
        return wrong(line, "'skipped' needs point and reason");
    snprintf(skip.point, sizeof skip.point, "%s", point);
    snprintf(skip.reason, sizeof skip.reason, "%s", reason);
    return journal_add_skip(j, &skip, e) == OK;
}

/* The names of points are told to be texts before any is taken. */
static bool take_block(struct journal *j, struct line *line, struct error *e)
{
    json_int_t block;
    json_t *points, *point;
    size_t i;
    if (json_unpack(line->json, "{s:I, s:o}", "block", &block, "points", &points) != 0 ||
        !json_is_array(points) || block < 0 || block > INT_MAX)
        return wrong(line, "'block' needs block and points");
    json_array_foreach(points, i, point)
    {
        const char *id = json_string_value(point);
        if (id == NULL || strlen(id) >= sizeof *j->blocks->points)
            return wrong(line, "the name of a point is none, or too long");
    }
    if (journal_add_block(j, (int)block, json_array_size(points), e) != OK)
        return false;
    json_array_foreach(points, i, point) journal_add_point(j, json_string_value(point));
    return true;
}

static bool take_able(struct journal *j, struct line *line, struct error *e)
{
    const char *point = json_string_value(json_object_get(line->json, "point"));
    if (point == NULL)
        return wrong(line, "'able' needs point");
    journal_forget_skip(j, point);
    return true;
}

static bool take_key(struct journal *j, struct line *line, struct error *e)
{
    const char *point, *key;
    if (json_unpack(line->json, "{s:s, s:s}", "point", &point, "key", &key) != 0)
        return wrong(line, "'key' needs point and key");
    if (strlen(point) >= sizeof j->keys->point || strlen(key) >= sizeof j->keys->key)
        return wrong(line, "the name of a point or its key is too long");
    return journal_set_key(j, point, key, e) == OK;
}

static bool take_finished(struct journal *j, struct line *line, struct error *e)
{
    j->finished = true;
    return true;
}

static const struct {
    const char *name;
    bool (*take)(struct journal *j, struct line *line, struct error *e);
} events[] = {{"block", take_block}, {"running", take_running},  {"done", take_done},
              {"retry", take_retry}, {"skipped", take_skipped},  {"able", take_able},
              {"key", take_key},     {"finished", take_finished}};

/* Takes one line into the lists; false with line->why, or with `e` filled when memory ran out. */
static bool take_line(struct journal *j, struct line *line, struct error *e)
{
    const char *event = json_string_value(json_object_get(line->json, "event"));
    if (event == NULL)
        return wrong(line, "no event");
    for (size_t i = 0; i < sizeof events / sizeof *events; i++)
        if (strcmp(events[i].name, event) == 0)
            return events[i].take(j, line, e);
    return wrong(line,
                 "event is none of block, running, done, retry, skipped, able, key, finished");
}

static enum status read_line(struct journal *j, const char *text, size_t length, int number,
                             struct error *e)
{
    json_error_t json_error;
    struct error memory = {0};
    struct line line = {.json = json_loadb(text, length, 0, &json_error)};
    bool taken = line.json != NULL ? take_line(j, &line, &memory) : wrong(&line, json_error.text);
    json_decref(line.json);
    if (taken)
        return OK;
    if (memory.status != OK) {
        if (e != NULL)
            *e = memory;
        return memory.status;
    }
    return error_at(
        e, ERR_DATA, j->path, number, 0,
        "not a line of a journal: %s; nothing is written to it, --fresh begins a new run",
        line.why);
}

/* ---- The file ---- */

/* Reads lines; *good is the number of bytes up to the end of the last whole line. A last line
 * without its newline was torn when the writer was killed: it does not count. */
static enum status read_lines(struct journal *j, FILE *f, off_t *good, struct error *e)
{
    char *text = NULL;
    size_t size = 0;
    ssize_t length;
    enum status status = OK;
    for (int number = 1; status == OK && (length = getline(&text, &size, f)) > 0; number++) {
        if (text[length - 1] != '\n')
            break;
        status = read_line(j, text, (size_t)length, number, e);
        *good += length;
    }
    free(text);
    return status;
}

static int compare_keys(const void *a, const void *b)
{
    const struct journal_key *x = a, *y = b;
    return strcmp(x->point, y->point);
}

static void find_all_outdated(struct journal *j)
{
    if (j->n_keys > 0)
        qsort(j->keys, j->n_keys, sizeof *j->keys, compare_keys);
    for (size_t i = 0; i < j->n_launches && j->n_keys > 0; i++) {
        struct journal_key of;
        snprintf(of.point, sizeof of.point, "%s", j->launches[i].point);
        const struct journal_key *key =
            bsearch(&of, j->keys, j->n_keys, sizeof *j->keys, compare_keys);
        if (key != NULL)
            journal_find_outdated(&j->launches[i], key);
    }
}

enum status journal_read(struct journal *j, off_t *good, struct error *e)
{
    *good = 0;
    const char *why;
    FILE *f = file_open_stream(j->path, &why);
    if (f == NULL && errno == ENOENT)
        return OK;
    if (f == NULL)
        return error_at(e, ERR_SYSTEM, j->path, 0, 0, "%s", why);
    enum status status = read_lines(j, f, good, e);
    fclose(f);
    find_all_outdated(j);
    return status;
}
