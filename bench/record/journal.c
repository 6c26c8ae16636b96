#include "bench/record/journal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "bench/base/file.h"
#include "bench/base/json.h"
#include "bench/record/journal_state.h"

/* ---- Opening ---- */

static enum status cannot(const struct journal *j, struct error *e)
{
    return error_at(e, ERR_SYSTEM, j->path, 0, 0, "%s", strerror(errno));
}

static enum status open_locked(struct journal *j, const char *run_dir, struct error *e)
{
    j->fd = open(j->path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
    if (j->fd < 0)
        return cannot(j, e);
    if (flock(j->fd, LOCK_EX | LOCK_NB) == 0)
        return OK;
    if (errno == EWOULDBLOCK)
        return error_at(e, ERR_UNAVAILABLE, j->path, 0, 0,
                        "another scalebench is running this campaign in %s", run_dir);
    return error_at(e, ERR_SYSTEM, j->path, 0, 0, "flock: %s", strerror(errno));
}

static enum status open_to_append(struct journal *j, const char *run_dir, struct error *e)
{
    off_t good;
    TRY(open_locked(j, run_dir, e));
    TRY(journal_read(j, &good, e));
    /* What was torn is cut off, or the next line would be glued to it. */
    return ftruncate(j->fd, good) == 0 && file_sync_folder(run_dir) ? OK : cannot(j, e);
}

enum status journal_open(struct journal *j, const char *run_dir, bool append, struct error *e)
{
    off_t good;
    *j = (struct journal){.fd = -1};
    if (snprintf(j->path, sizeof j->path, "%s/journal.jsonl", run_dir) >= (int)sizeof j->path)
        return error_at(e, ERR_ARGUMENT, run_dir, 0, 0, "the path is too long");
    enum status status = append ? open_to_append(j, run_dir, e) : journal_read(j, &good, e);
    if (status != OK)
        journal_close(j);
    return status;
}

void journal_close(struct journal *j)
{
    if (j->fd >= 0)
        close(j->fd);
    for (size_t i = 0; i < j->n_blocks; i++)
        free(j->blocks[i].points);
    free(j->blocks);
    free(j->keys);
    free(j->launches);
    hdestroy_r(&j->names);
    free(j->skips);
    *j = (struct journal){.fd = -1};
}

/* ---- Writing ---- */

enum status journal_check(const struct journal *j, struct error *e)
{
    struct stat own, there;
    if (fstat(j->fd, &own) == 0 && stat(j->path, &there) == 0 && own.st_dev == there.st_dev &&
        own.st_ino == there.st_ino)
        return OK;
    return error_at(e, ERR_SYSTEM, j->path, 0, 0,
                    "the folder of this run was removed, replaced or unmounted while it ran");
}

/* Writes one line and syncs it. Takes `json`, which is NULL when memory ran out or a text is not
 * UTF-8. */
static enum status write_line(const struct journal *j, json_t *json, struct error *e)
{
    char *text = json != NULL ? json_dumps(json, JSON_COMPACT) : NULL;
    json_decref(json);
    if (text == NULL)
        return error_no_memory(e, "the journal");
    size_t length = strlen(text);
    text[length] = '\n'; /* in place of the terminator: one write, one line */
    enum status status = journal_check(j, e);
    if (status == OK && !(file_write_all(j->fd, text, length + 1) && fdatasync(j->fd) == 0))
        status = cannot(j, e);
    free(text);
    return status;
}

static void now_text(char text[24])
{
    time_t now = time(NULL);
    struct tm utc;
    gmtime_r(&now, &utc);
    strftime(text, 24, "%Y-%m-%dT%H:%M:%SZ", &utc);
}

enum status journal_running(struct journal *j, const struct journal_launch *launch, struct error *e)
{
    struct journal_launch running = *launch;
    now_text(running.at);
    json_t *json = json_pack("{s:s, s:s, s:s, s:s, s:i, s:I, s:s, s:s}", "event", "running",
                             "launch", launch->launch, "point", launch->point, "run",
                             journal_runs[launch->run], "block", launch->block, "seed",
                             (json_int_t)launch->seed, "key", launch->key, "at", running.at);
    if (json != NULL && launch->shares_cores)
        json_object_set_new(json, "shares_cores", json_true());
    TRY(write_line(j, json, e));
    j->finished = false; /* it was, for a spec that asked for less */
    journal_end_launch(&running, &journal_not_ended);
    return journal_add_launch(j, &running, e);
}

enum status journal_done(struct journal *j, const struct journal_launch *ended, struct error *e)
{
    struct journal_launch *l = journal_find_launch(j, ended->launch);
    if (l == NULL || l->status != LAUNCH_RUNNING || ended->status == LAUNCH_RUNNING)
        return error_at(e, ERR_ARGUMENT, j->path, 0, 0, "launch '%s' is not running",
                        ended->launch);
    json_t *json = json_pack("{s:s, s:s, s:s, s:o, s:f}", "event", "done", "launch", ended->launch,
                             "status", journal_statuses[ended->status], "reason",
                             json_text(ended->reason), "wall_s", ended->wall_s);
    journal_write_numbers(json, ended);
    if (json != NULL && ended->exit_status >= 0)
        json_object_set_new(json, "exit_status", json_integer(ended->exit_status));
    TRY(write_line(j, json, e));
    journal_end_launch(l, ended);
    return OK;
}

enum status journal_retry(struct journal *j, const char *launch, struct error *e)
{
    struct journal_launch *l = journal_find_launch(j, launch);
    if (l == NULL || l->status == LAUNCH_RUNNING || l->retried)
        return error_at(e, ERR_ARGUMENT, j->path, 0, 0, "launch '%s' has not ended", launch);
    TRY(write_line(j, json_pack("{s:s, s:s}", "event", "retry", "launch", launch), e));
    journal_take_back(j, l);
    return OK;
}

enum status journal_block(struct journal *j, int block, const char *const *points, size_t n,
                          struct error *e)
{
    json_t *ids = json_array();
    for (size_t i = 0; i < n; i++)
        json_array_append_new(ids, json_string(points[i]));
    TRY(write_line(j, json_pack("{s:s, s:i, s:o}", "event", "block", "block", block, "points", ids),
                   e));
    TRY(journal_add_block(j, block, n, e));
    for (size_t i = 0; i < n; i++)
        journal_add_point(j, points[i]);
    return OK;
}

enum status journal_skipped(struct journal *j, const char *point, const char *reason,
                            struct error *e)
{
    json_t *json = json_pack("{s:s, s:s, s:o}", "event", "skipped", "point", point, "reason",
                             json_text(reason));
    struct journal_skip skip = {0};
    snprintf(skip.point, sizeof skip.point, "%s", point);
    snprintf(skip.reason, sizeof skip.reason, "%s", reason);
    TRY(write_line(j, json, e));
    return journal_add_skip(j, &skip, e);
}

enum status journal_able(struct journal *j, const char *point, struct error *e)
{
    TRY(write_line(j, json_pack("{s:s, s:s}", "event", "able", "point", point), e));
    journal_forget_skip(j, point);
    return OK;
}

enum status journal_key(struct journal *j, const char *point, const char *key, struct error *e)
{
    TRY(write_line(j, json_pack("{s:s, s:s, s:s}", "event", "key", "point", point, "key", key), e));
    TRY(journal_set_key(j, point, key, e));
    for (size_t i = 0; i < j->n_launches; i++)
        if (strcmp(j->launches[i].point, point) == 0)
            journal_find_outdated(&j->launches[i], journal_find_key(j, point));
    return OK;
}

enum status journal_finished(struct journal *j, double wall_s, struct error *e)
{
    json_t *json = json_pack("{s:s, s:f}", "event", "finished", "wall_s", wall_s);
    TRY(write_line(j, json, e));
    j->finished = true;
    return OK;
}
