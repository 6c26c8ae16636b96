#include "bench/record/segments.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench/base/file.h"
#include "bench/base/json.h"
#include "kernels/base/mem.h"
#include "kernels/base/names.h"

const char *const attempt_ends[ATTEMPT_ENDS] = {"running", "done", "died", "stopped"};

/* Members of struct attempt with type double: name in the file, and offset in the struct. */
static const struct {
    const char *name;
    size_t offset;
} numbers[] = {
    {"begin_s", offsetof(struct attempt, begin_s)},
    {"end_s", offsetof(struct attempt, end_s)},
    {"resumed", offsetof(struct attempt, progress.resumed)},
    {"steps", offsetof(struct attempt, progress.steps)},
    {"epoch", offsetof(struct attempt, progress.epoch)},
    {"first_step_s", offsetof(struct attempt, progress.first_step_s)},
    {"last_step_s", offsetof(struct attempt, progress.last_step_s)},
};
#define NUMBERS (sizeof numbers / sizeof *numbers)

static const struct attempt_progress nothing_known = {NAN, NAN, NAN, NAN, NAN};

enum status segments_path(char *path, size_t size, const char *launch_dir, struct error *e)
{
    const char *number = strrchr(launch_dir, '-');
    int length = number != NULL ? (int)(number - launch_dir) : (int)strlen(launch_dir);
    if (snprintf(path, size, "%.*s.segments.json", length, launch_dir) < (int)size)
        return OK;
    return error_at(e, ERR_ARGUMENT, launch_dir, 0, 0, "the path is too long");
}

/* ---- Reading ---- */

static bool take_attempt(struct attempt *a, const json_t *json)
{
    const char *launch, *end, *reason;
    *a = (struct attempt){.progress = nothing_known};
    if (json_unpack((json_t *)json, "{s:s, s:i, s:i, s:i, s:s, s:s}", "launch", &launch, "segment",
                    &a->segment, "ranks", &a->ranks, "nodes", &a->nodes, "end", &end, "reason",
                    &reason) != 0)
        return false;
    int index = name_index(end, attempt_ends, ATTEMPT_ENDS);
    snprintf(a->launch, sizeof a->launch, "%s", launch);
    snprintf(a->reason, sizeof a->reason, "%s", reason);
    for (size_t i = 0; i < NUMBERS; i++)
        *(double *)((char *)a + numbers[i].offset) = json_known(json, numbers[i].name);
    a->end = (enum attempt_end)index;
    return index >= 0 && a->segment >= 0 && a->ranks > 0 && a->nodes > 0;
}

static enum status take_all(struct segments *s, const json_t *list, const char *path,
                            struct error *e)
{
    for (struct attempt *added; s->n < json_array_size(list);) {
        TRY(segments_add(s, &added, e));
        if (!take_attempt(added, json_array_get(list, s->n - 1)))
            return error_at(e, ERR_DATA, path, 0, 0,
                            "launch attempt %zu: 'launch', 'segment', 'ranks', 'nodes', 'end' or "
                            "'reason' is missing or not valid",
                            s->n);
    }
    return OK;
}

enum status segments_read(struct segments *s, const char *path, struct error *e)
{
    json_error_t why;
    const char *what;
    *s = (struct segments){NULL, 0};
    if (access(path, F_OK) != 0 && errno == ENOENT)
        return OK;
    FILE *file = file_open_stream(path, &what);
    if (file == NULL)
        return error_at(e, ERR_DATA, path, 0, 0, "cannot be read: %s", what);
    json_t *list = json_loadf(file, JSON_REJECT_DUPLICATES, &why);
    fclose(file);
    enum status status =
        json_is_array(list)
            ? take_all(s, list, path, e)
            : error_at(e, ERR_DATA, path, why.line, 0, "expected a list of launch attempts: %s",
                       list == NULL ? why.text : "found another JSON value");
    json_decref(list);
    if (status != OK)
        segments_free(s);
    return status;
}

void segments_free(struct segments *s)
{
    free(s->attempts);
    *s = (struct segments){NULL, 0};
}

void attempt_progress_read(struct attempt_progress *progress, const char *dir)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/progress", dir);
    json_t *json = json_load_file(path, 0, NULL);
    *progress = (struct attempt_progress){
        json_known(json, "resumed"), json_known(json, "steps"), json_known(json, "epoch"),
        json_known(json, "first_step_at_s"), json_known(json, "last_step_at_s")};
    if (!(progress->first_step_s > 0)) /* 0 in the file: no step has ended yet */
        progress->first_step_s = progress->last_step_s = NAN;
    json_decref(json);
}

/* ---- Writing ---- */

enum status segments_add(struct segments *s, struct attempt **added, struct error *e)
{
    TRY(MEM_GROW(s->attempts, s->n, "the segments of a run", e));
    *added = &s->attempts[s->n++];
    **added = (struct attempt){.begin_s = NAN, .end_s = NAN, .progress = nothing_known};
    return OK;
}

static json_t *json_of(const struct attempt *a)
{
    json_t *json = json_pack("{s:s, s:i, s:i, s:i, s:s, s:o}", "launch", a->launch, "segment",
                             a->segment, "ranks", a->ranks, "nodes", a->nodes, "end",
                             attempt_ends[a->end], "reason", json_text(a->reason));
    for (size_t i = 0; i < NUMBERS; i++)
        json_set_known(json, numbers[i].name,
                       *(const double *)((const char *)a + numbers[i].offset));
    return json;
}

static enum status write_list(const json_t *list, const char *temporary, const char *path,
                              struct error *e)
{
    FILE *file = fopen(temporary, "we");
    bool good = file != NULL && json_dumpf(list, file, JSON_INDENT(1)) == 0 && fflush(file) == 0 &&
                fsync(fileno(file)) == 0;
    if (file != NULL)
        good = fclose(file) == 0 && good;
    if (good && rename(temporary, path) == 0)
        return OK;
    return error_at(e, ERR_SYSTEM, path, 0, 0, "cannot be written: %s", strerror(errno));
}

enum status segments_write(const struct segments *s, const char *path, struct error *e)
{
    char temporary[4096 + 8];
    json_t *list = json_array();
    for (size_t i = 0; i < s->n; i++)
        json_array_append_new(list, json_of(&s->attempts[i]));
    snprintf(temporary, sizeof temporary, "%s.tmp", path);
    enum status status = json_array_size(list) == s->n
                             ? write_list(list, temporary, path, e)
                             : error_no_memory(e, "the segments of a run");
    json_decref(list);
    return status;
}

/* ---- Totals ---- */

/* Returns the latest attempt before attempt i that reported its progress; NULL if none did. */
static const struct attempt *reported_before(const struct segments *s, size_t i)
{
    while (i-- > 0)
        if (isfinite(s->attempts[i].progress.steps))
            return &s->attempts[i];
    return NULL;
}

double attempt_lost_steps(const struct segments *s, size_t i)
{
    const struct attempt *before = reported_before(s, i);
    double resumed = s->attempts[i].progress.resumed;
    if (i == 0 || isnan(resumed))
        return NAN;
    return before != NULL ? fmax(0, before->progress.steps - resumed) : 0;
}

double attempt_pause_s(const struct segments *s, size_t i)
{
    const struct attempt_progress *own = &s->attempts[i].progress;
    double from_s = NAN,
           to_s = isfinite(own->first_step_s) ? own->first_step_s : s->attempts[i].end_s;
    for (size_t k = i; k-- > 0 && !isfinite(from_s);)
        from_s = s->attempts[k].progress.last_step_s;
    if (i > 0 && !isfinite(from_s))
        from_s = s->attempts[0].begin_s;
    return to_s - from_s;
}

/* Returns whether an attempt completed a step, or had no step left. Any other attempt counts as
 * part of the pause before the next attempt. */
static bool has_stepped(const struct segments *s, size_t i)
{
    return isfinite(s->attempts[i].progress.first_step_s) || s->attempts[i].end == ATTEMPT_DONE;
}

void segments_sum(struct segments_total *total, const struct segments *s)
{
    bool died = false;
    *total = (struct segments_total){0};
    for (size_t i = 0; i < s->n; i++) {
        double lost = attempt_lost_steps(s, i), pause_s = attempt_pause_s(s, i);
        if (isfinite(lost))
            total->lost_steps += lost;
        if (i > 0 && has_stepped(s, i)) {
            if (died)
                total->recovery_s += pause_s;
            else if (s->attempts[i - 1].end == ATTEMPT_DONE)
                total->change_s += pause_s;
            died = false;
        }
        died = died || s->attempts[i].end == ATTEMPT_DIED;
        total->restarts += s->attempts[i].end == ATTEMPT_DIED;
        if (strcmp(s->attempts[i].launch, s->attempts[s->n - 1].launch) != 0)
            total->earlier_s += s->attempts[i].end_s - s->attempts[i].begin_s;
    }
}
