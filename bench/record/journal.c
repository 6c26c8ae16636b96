#include "bench/record/journal.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "kernels/base/file.h"
#include "kernels/base/names.h"

static const char *const run_names[] = {"time", "accuracy"};
static const char *const status_names[] = {"running", "ok", "failed", "timeout", "diverged"};

/* ---- Lists ---- */

static enum status add_launch(struct journal *j, const struct journal_launch *launch,
                              struct error *e)
{
    struct journal_launch *grown = realloc(j->launches, (j->n_launches + 1) * sizeof *j->launches);
    if (grown == NULL)
        return error_no_memory(e, "the journal");
    j->launches = grown;
    j->launches[j->n_launches++] = *launch;
    return OK;
}

static enum status add_skip(struct journal *j, const struct journal_skip *skip, struct error *e)
{
    struct journal_skip *grown = realloc(j->skips, (j->n_skips + 1) * sizeof *j->skips);
    if (grown == NULL)
        return error_no_memory(e, "the journal");
    j->skips = grown;
    j->skips[j->n_skips++] = *skip;
    return OK;
}

static struct journal_launch *find_launch(struct journal *j, const char *name)
{
    for (size_t i = j->n_launches; i-- > 0;)
        if (strcmp(j->launches[i].launch, name) == 0)
            return &j->launches[i];
    return NULL;
}

static void end_launch(struct journal_launch *launch, enum launch_status status, const char *reason,
                       double wall_s, double foreign_pct)
{
    launch->status = status;
    launch->wall_s = wall_s;
    launch->foreign_pct = foreign_pct;
    snprintf(launch->reason, sizeof launch->reason, "%s", reason);
}

/* ---- Reading ---- */

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
    struct journal_launch l = {.status = LAUNCH_RUNNING, .foreign_pct = NAN};
    if (json_unpack(line->json, "{s:s, s:s, s:s, s:I, s:I}", "launch", &launch, "point", &point,
                    "run", &run, "block", &block, "seed", &seed) != 0)
        return wrong(line, "'running' needs launch, point, run, block, seed");
    int run_index = name_index(run, run_names, 2);
    if (run_index < 0)
        return wrong(line, "run is neither time nor accuracy");
    if (strlen(launch) >= sizeof l.launch || strlen(point) >= sizeof l.point)
        return wrong(line, "the name of a launch or point is too long");
    strcpy(l.launch, launch);
    strcpy(l.point, point);
    l.run = (enum launch_run)run_index;
    l.block = (int)block;
    l.seed = (uint64_t)seed;
    l.shares_cores = json_is_true(json_object_get(line->json, "shares_cores"));
    return add_launch(j, &l, e) == OK;
}

static bool take_done(struct journal *j, struct line *line)
{
    const char *launch, *status, *reason;
    double wall_s;
    if (json_unpack(line->json, "{s:s, s:s, s:s, s:F}", "launch", &launch, "status", &status,
                    "reason", &reason, "wall_s", &wall_s) != 0)
        return wrong(line, "'done' needs launch, status, reason, wall_s");
    struct journal_launch *l = find_launch(j, launch);
    int status_index = name_index(status, status_names, sizeof status_names / sizeof *status_names);
    if (l == NULL || l->status != LAUNCH_RUNNING)
        return wrong(line, "'done' of a launch that is not running");
    if (status_index <= LAUNCH_RUNNING)
        return wrong(line, "status is none of ok, failed, timeout, diverged");
    const json_t *foreign = json_object_get(line->json, "foreign_pct");
    end_launch(l, (enum launch_status)status_index, reason, wall_s,
               json_is_number(foreign) ? json_number_value(foreign) : NAN);
    return true;
}

static void take_back(struct journal *j, struct journal_launch *launch)
{
    end_launch(launch, LAUNCH_RUNNING, "", 0, NAN);
    j->finished = false;
}

static bool take_retry(struct journal *j, struct line *line)
{
    const char *name = json_string_value(json_object_get(line->json, "launch"));
    struct journal_launch *launch = name != NULL ? find_launch(j, name) : NULL;
    if (launch == NULL || launch->status == LAUNCH_RUNNING)
        return wrong(line, "'retry' of a launch that has not ended");
    take_back(j, launch);
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
    return add_skip(j, &skip, e) == OK;
}

/* Takes one line into the lists; false with line->why, or with `e` filled when memory ran out. */
static bool take_line(struct journal *j, struct line *line, struct error *e)
{
    const char *event = json_string_value(json_object_get(line->json, "event"));
    if (event == NULL)
        return wrong(line, "no event");
    if (strcmp(event, "running") == 0)
        return take_running(j, line, e);
    if (strcmp(event, "done") == 0)
        return take_done(j, line);
    if (strcmp(event, "retry") == 0)
        return take_retry(j, line);
    if (strcmp(event, "skipped") == 0)
        return take_skipped(j, line, e);
    if (strcmp(event, "finished") != 0)
        return wrong(line, "event is none of running, done, retry, skipped, finished");
    j->finished = true;
    return true;
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
    return error_at(e, ERR_DATA, j->path, number, 0, "not a line of a journal: %s", line.why);
}

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
    return status;
}

/* ---- Opening ---- */

static enum status open_locked(struct journal *j, const char *run_dir, struct error *e)
{
    j->fd = open(j->path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
    if (j->fd < 0)
        return error_at(e, ERR_SYSTEM, j->path, 0, 0, "%s", strerror(errno));
    if (flock(j->fd, LOCK_EX | LOCK_NB) == 0)
        return OK;
    if (errno == EWOULDBLOCK)
        return error_at(e, ERR_UNAVAILABLE, j->path, 0, 0,
                        "another scalebench is running this campaign in %s", run_dir);
    return error_at(e, ERR_SYSTEM, j->path, 0, 0, "flock: %s", strerror(errno));
}

/* The name of a new file is on disk only when its folder is. */
static enum status sync_folder(const struct journal *j, const char *run_dir, struct error *e)
{
    int folder = open(run_dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int failed = folder < 0 || fsync(folder) != 0;
    int why = errno;
    if (folder >= 0)
        close(folder);
    return failed ? error_at(e, ERR_SYSTEM, j->path, 0, 0, "%s", strerror(why)) : OK;
}

static enum status open_to_append(struct journal *j, const char *run_dir, struct error *e)
{
    off_t good;
    TRY(open_locked(j, run_dir, e));
    TRY(read_file(j, &good, e));
    /* What was torn is cut off, or the next line would be glued to it. */
    if (ftruncate(j->fd, good) != 0)
        return error_at(e, ERR_SYSTEM, j->path, 0, 0, "%s", strerror(errno));
    return sync_folder(j, run_dir, e);
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
    free(j->launches);
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

static enum status write_all(const struct journal *j, const char *text, size_t length,
                             struct error *e)
{
    TRY(journal_check(j, e));
    while (length > 0) {
        ssize_t n = write(j->fd, text, length);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return error_at(e, ERR_SYSTEM, j->path, 0, 0, "%s", strerror(errno));
        text += n;
        length -= (size_t)n;
    }
    if (fdatasync(j->fd) != 0)
        return error_at(e, ERR_SYSTEM, j->path, 0, 0, "%s", strerror(errno));
    return OK;
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
    enum status status = write_all(j, text, length + 1, e);
    free(text);
    return status;
}

/* A reason may quote a program's log: bytes that are not UTF-8 are replaced, as JSON wants it. */
static json_t *json_text(const char *text)
{
    json_t *json = json_string(text);
    char *copy = json != NULL ? NULL : strdup(text);
    if (copy == NULL)
        return json;
    for (char *c = copy; *c; c++)
        if ((unsigned char)*c >= 0x80)
            *c = '?';
    json = json_string(copy);
    free(copy);
    return json;
}

static void now_text(char text[32])
{
    time_t now = time(NULL);
    struct tm utc;
    gmtime_r(&now, &utc);
    strftime(text, 32, "%Y-%m-%dT%H:%M:%SZ", &utc);
}

enum status journal_running(struct journal *j, const struct journal_launch *launch, struct error *e)
{
    char at[32];
    now_text(at);
    json_t *json = json_pack("{s:s, s:s, s:s, s:s, s:i, s:I, s:s}", "event", "running", "launch",
                             launch->launch, "point", launch->point, "run", run_names[launch->run],
                             "block", launch->block, "seed", (json_int_t)launch->seed, "at", at);
    if (json != NULL && launch->shares_cores)
        json_object_set_new(json, "shares_cores", json_true());
    TRY(write_line(j, json, e));
    struct journal_launch running = *launch;
    end_launch(&running, LAUNCH_RUNNING, "", 0, NAN);
    return add_launch(j, &running, e);
}

enum status journal_done(struct journal *j, const char *launch, enum launch_status status,
                         const char *reason, double wall_s, double foreign_pct, struct error *e)
{
    struct journal_launch *l = find_launch(j, launch);
    if (l == NULL || l->status != LAUNCH_RUNNING || status == LAUNCH_RUNNING)
        return error_at(e, ERR_ARGUMENT, j->path, 0, 0, "launch '%s' is not running", launch);
    json_t *json =
        json_pack("{s:s, s:s, s:s, s:o, s:f}", "event", "done", "launch", launch, "status",
                  status_names[status], "reason", json_text(reason), "wall_s", wall_s);
    if (json != NULL && isfinite(foreign_pct))
        json_object_set_new(json, "foreign_pct", json_real(foreign_pct));
    TRY(write_line(j, json, e));
    end_launch(l, status, reason, wall_s, foreign_pct);
    return OK;
}

enum status journal_retry(struct journal *j, const char *launch, struct error *e)
{
    struct journal_launch *l = find_launch(j, launch);
    if (l == NULL || l->status == LAUNCH_RUNNING)
        return error_at(e, ERR_ARGUMENT, j->path, 0, 0, "launch '%s' has not ended", launch);
    TRY(write_line(j, json_pack("{s:s, s:s}", "event", "retry", "launch", launch), e));
    take_back(j, l);
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
    return add_skip(j, &skip, e);
}

enum status journal_finished(struct journal *j, double wall_s, struct error *e)
{
    json_t *json = json_pack("{s:s, s:f}", "event", "finished", "wall_s", wall_s);
    TRY(write_line(j, json, e));
    j->finished = true;
    return OK;
}
