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

/* ---- Reading ---- */

static enum status read_line(struct journal *j, const char *text, size_t length, int number,
                             struct error *e)
{
    json_error_t wrong;
    json_t *line = json_loadb(text, length, 0, &wrong);
    enum status status =
        line != NULL ? journal_take_line(j, line, e) : error_set(e, ERR_DATA, "%s", wrong.text);
    json_decref(line);
    if (status != ERR_DATA)
        return status;
    return error_at(e, ERR_DATA, j->path, number, 0,
                    "not a line of a journal: %s. Use --fresh to begin a new run and keep this "
                    "journal",
                    e->text);
}

/* Reads the complete lines and adds the number of their bytes to *good. Ignores a last line without
 * a newline: its writer was killed while it wrote the line. */
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

static enum status read_file(struct journal *j, off_t *good, struct error *e)
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
    journal_find_outdated(j, NULL);
    return status;
}

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
    return error_at(e, ERR_SYSTEM, j->path, 0, 0, "cannot lock this file: %s", strerror(errno));
}

static enum status open_to_append(struct journal *j, const char *run_dir, struct error *e)
{
    off_t good;
    TRY(open_locked(j, run_dir, e));
    TRY(read_file(j, &good, e));
    /* cut off a torn last line, since the next line would be appended to it */
    return ftruncate(j->fd, good) == 0 && file_sync_folder(run_dir) ? OK : cannot(j, e);
}

enum status journal_open(struct journal *j, const char *run_dir, bool append, struct error *e)
{
    off_t good;
    *j = (struct journal){.fd = -1};
    if (snprintf(j->path, sizeof j->path, "%s/journal.jsonl", run_dir) >= (int)sizeof j->path)
        return error_at(e, ERR_ARGUMENT, run_dir, 0, 0, "the path is too long");
    enum status status = append ? open_to_append(j, run_dir, e) : read_file(j, &good, e);
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
                    "the journal or the folder of this run was removed, replaced or unmounted "
                    "during the run");
}

static enum status write_text(const struct journal *j, const json_t *json, struct error *e)
{
    char *text = json != NULL ? json_dumps(json, JSON_COMPACT) : NULL;
    if (text == NULL)
        return error_no_memory(e, "the journal");
    size_t length = strlen(text);
    text[length] = '\n'; /* replaces the NUL, so that one write writes the whole line */
    enum status status = journal_check(j, e);
    if (status == OK && !(file_write_all(j->fd, text, length + 1) && fdatasync(j->fd) == 0))
        status = cannot(j, e);
    free(text);
    return status;
}

/* Writes a line, syncs the file and updates the lists in memory. Takes ownership of `json`. Returns
 * ERR_MEMORY if `json` is NULL, as after an allocation failure or for a text that is not UTF-8. */
static enum status add_line(struct journal *j, json_t *json, struct error *e)
{
    enum status status = write_text(j, json, e);
    THEN(status, journal_take_line(j, json, e));
    json_decref(json);
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
    char at[24];
    now_text(at);
    json_t *json =
        json_pack("{s:s, s:s, s:s, s:s, s:i, s:I, s:s, s:s}", "event", "running", "launch",
                  launch->launch, "point", launch->point, "run", journal_runs[launch->run], "block",
                  launch->block, "seed", (json_int_t)launch->seed, "key", launch->key, "at", at);
    if (json != NULL && launch->shares_cores)
        json_object_set_new(json, "shares_cores", json_true());
    return add_line(j, json, e);
}

enum status journal_done(struct journal *j, const struct journal_launch *ended, struct error *e)
{
    const struct journal_launch *l = journal_find_launch(j, ended->launch);
    if (l == NULL || l->status != LAUNCH_RUNNING || ended->status == LAUNCH_RUNNING)
        return error_at(e, ERR_ARGUMENT, j->path, 0, 0, "launch '%s' is not running",
                        ended->launch);
    json_t *json = json_pack("{s:s, s:s, s:s, s:o, s:f}", "event", "done", "launch", ended->launch,
                             "status", journal_statuses[ended->status], "reason",
                             json_text(ended->reason), "wall_s", ended->wall_s);
    journal_write_numbers(json, ended);
    if (json != NULL && ended->exit_status >= 0)
        json_object_set_new(json, "exit_status", json_integer(ended->exit_status));
    return add_line(j, json, e);
}

enum status journal_retry(struct journal *j, const char *launch, struct error *e)
{
    const struct journal_launch *l = journal_find_launch(j, launch);
    if (l == NULL || l->status == LAUNCH_RUNNING || l->retried)
        return error_at(e, ERR_ARGUMENT, j->path, 0, 0,
                        "launch '%s' is unknown, still running or already retried", launch);
    return add_line(j, json_pack("{s:s, s:s}", "event", "retry", "launch", launch), e);
}

enum status journal_block(struct journal *j, int block, const char *const *points, size_t n,
                          struct error *e)
{
    json_t *ids = json_array();
    for (size_t i = 0; i < n; i++)
        json_array_append_new(ids, json_string(points[i]));
    return add_line(
        j, json_pack("{s:s, s:i, s:o}", "event", "block", "block", block, "points", ids), e);
}

enum status journal_skipped(struct journal *j, const char *point, const char *reason,
                            struct error *e)
{
    return add_line(j,
                    json_pack("{s:s, s:s, s:o}", "event", "skipped", "point", point, "reason",
                              json_text(reason)),
                    e);
}

enum status journal_able(struct journal *j, const char *point, struct error *e)
{
    return add_line(j, json_pack("{s:s, s:s}", "event", "able", "point", point), e);
}

enum status journal_key(struct journal *j, const char *point, const char *key, struct error *e)
{
    TRY(add_line(j, json_pack("{s:s, s:s, s:s}", "event", "key", "point", point, "key", key), e));
    journal_find_outdated(j, point);
    return OK;
}

enum status journal_finished(struct journal *j, double wall_s, struct error *e)
{
    return add_line(j, json_pack("{s:s, s:f}", "event", "finished", "wall_s", wall_s), e);
}
