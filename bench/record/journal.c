#include "bench/record/journal.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "kernels/base/file.h"
#include "kernels/base/mem.h"
#include "kernels/base/names.h"

static const char *const run_names[] = {"time", "accuracy"};
static const char *const status_names[] = {"running", "ok", "failed", "timeout", "diverged"};

/* ---- Noise ---- */

static const struct {
    const char *name;
    size_t offset; /* in struct launch_noise */
} noises[] = {
#define NOISE(id, unit, launches, meaning) {#id, offsetof(struct launch_noise, id)},
#include "bench/record/noise.def"
};

#define NOISES (sizeof noises / sizeof *noises)

static double *noise_at(struct launch_noise *noise, size_t i)
{
    return (double *)((char *)noise + noises[i].offset);
}

static void noise_read(struct launch_noise *noise, const json_t *line)
{
    for (size_t i = 0; i < NOISES; i++) {
        const json_t *number = json_object_get(line, noises[i].name);
        *noise_at(noise, i) = json_is_number(number) ? json_number_value(number) : NAN;
    }
}

static void noise_write(json_t *line, const struct launch_noise *noise)
{
    struct launch_noise copy = *noise;
    for (size_t i = 0; line != NULL && i < NOISES; i++)
        if (isfinite(*noise_at(&copy, i)))
            json_object_set_new(line, noises[i].name, json_real(*noise_at(&copy, i)));
}

/* ---- Lists ---- */

/* Enters a launch by its name, in place of an earlier one of that name; there is room. */
static void enter_launch(struct journal *j, size_t i)
{
    ENTRY *entry;
    hsearch_r((ENTRY){.key = j->launches[i].launch}, ENTER, &entry, &j->names);
    entry->key = j->launches[i].launch;
    entry->data = (void *)i;
}

/* A table that borrows the names of launches is made anew when these move, as they double. */
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

static enum status add_skip(struct journal *j, const struct journal_skip *skip, struct error *e)
{
    TRY(MEM_GROW(j->skips, j->n_skips, "the journal", e));
    j->skips[j->n_skips++] = *skip;
    return OK;
}

/* An empty block with room for n points, which are added to it. */
static enum status add_block(struct journal *j, int block, size_t n, struct error *e)
{
    struct journal_block begun = {.block = block, .first_launch = j->n_launches};
    TRY(MEM_GROW(j->blocks, j->n_blocks, "the journal", e));
    TRY(MEM_NEW(begun.points, n, "the journal", e));
    j->blocks[j->n_blocks++] = begun;
    return OK;
}

static void add_point(struct journal *j, const char *point)
{
    struct journal_block *block = &j->blocks[j->n_blocks - 1];
    snprintf(block->points[block->n_points++], sizeof *block->points, "%s", point);
}

static struct journal_key *find_key(const struct journal *j, const char *point)
{
    for (size_t i = 0; i < j->n_keys; i++)
        if (strcmp(j->keys[i].point, point) == 0)
            return &j->keys[i];
    return NULL;
}

static enum status set_key(struct journal *j, const char *point, const char *name, struct error *e)
{
    struct journal_key *key = find_key(j, point);
    if (key == NULL) {
        TRY(MEM_GROW(j->keys, j->n_keys, "the journal", e));
        key = &j->keys[j->n_keys++];
        snprintf(key->point, sizeof key->point, "%s", point);
    }
    snprintf(key->key, sizeof key->key, "%s", name);
    j->finished = false;
    return OK;
}

/* Launches of earlier versions have no key. */
static void find_outdated(struct journal_launch *launch, const struct journal_key *key)
{
    launch->outdated = launch->key[0] != '\0' && strcmp(launch->key, key->key) != 0;
}

static struct journal_launch *find_launch(struct journal *j, const char *name)
{
    ENTRY *entry;
    if (j->n_launches == 0 || !hsearch_r((ENTRY){.key = (char *)name}, FIND, &entry, &j->names))
        return NULL;
    return &j->launches[(size_t)entry->data];
}

/* Takes over what is known from the end of a launch on. */
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
    struct journal_launch l = not_ended;
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
    const char *key = json_string_value(json_object_get(line->json, "key"));
    snprintf(l.key, sizeof l.key, "%s", key != NULL ? key : "");
    l.run = (enum launch_run)run_index;
    l.block = (int)block;
    l.seed = (uint64_t)seed;
    l.shares_cores = json_is_true(json_object_get(line->json, "shares_cores"));
    j->finished = false;
    const char *at = json_string_value(json_object_get(line->json, "at"));
    snprintf(l.at, sizeof l.at, "%s", at != NULL ? at : "");
    return add_launch(j, &l, e) == OK;
}

static double number_or_nan(const struct line *line, const char *name)
{
    const json_t *number = json_object_get(line->json, name);
    return json_is_number(number) ? json_number_value(number) : NAN;
}

static bool take_done(struct journal *j, struct line *line)
{
    const char *launch, *status, *reason;
    struct journal_launch ended = not_ended;
    if (json_unpack(line->json, "{s:s, s:s, s:s, s:F}", "launch", &launch, "status", &status,
                    "reason", &reason, "wall_s", &ended.wall_s) != 0)
        return wrong(line, "'done' needs launch, status, reason, wall_s");
    struct journal_launch *l = find_launch(j, launch);
    int status_index = name_index(status, status_names, sizeof status_names / sizeof *status_names);
    if (l == NULL || l->status != LAUNCH_RUNNING)
        return wrong(line, "'done' of a launch that is not running");
    if (status_index <= LAUNCH_RUNNING)
        return wrong(line, "status is none of ok, failed, timeout, diverged");
    const json_t *exit_status = json_object_get(line->json, "exit_status");
    snprintf(ended.reason, sizeof ended.reason, "%s", reason);
    ended.status = (enum launch_status)status_index;
    ended.foreign_pct = number_or_nan(line, "foreign_pct");
    ended.step_ms = number_or_nan(line, "step_ms");
    ended.images = number_or_nan(line, "images");
    ended.comm_replay_ms = number_or_nan(line, "comm_replay_ms");
    noise_read(&ended.noise, line->json);
    if (json_is_integer(exit_status))
        ended.exit_status = (int)json_integer_value(exit_status);
    end_launch(l, &ended);
    return true;
}

/* One that failed is kept as such. */
static void take_back(struct journal *j, struct journal_launch *launch)
{
    if (launch_is_done(launch))
        end_launch(launch, &not_ended);
    else
        launch->retried = true;
    j->finished = false;
}

static bool take_retry(struct journal *j, struct line *line)
{
    const char *name = json_string_value(json_object_get(line->json, "launch"));
    struct journal_launch *launch = name != NULL ? find_launch(j, name) : NULL;
    if (launch == NULL || launch->status == LAUNCH_RUNNING || launch->retried)
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
    if (add_block(j, (int)block, json_array_size(points), e) != OK)
        return false;
    json_array_foreach(points, i, point) add_point(j, json_string_value(point));
    return true;
}

static void forget_skip(struct journal *j, const char *point)
{
    size_t kept = 0;
    for (size_t i = 0; i < j->n_skips; i++)
        if (strcmp(j->skips[i].point, point) != 0)
            j->skips[kept++] = j->skips[i];
    j->n_skips = kept;
}

static bool take_able(struct journal *j, struct line *line)
{
    const char *point = json_string_value(json_object_get(line->json, "point"));
    if (point == NULL)
        return wrong(line, "'able' needs point");
    forget_skip(j, point);
    return true;
}

static bool take_key(struct journal *j, struct line *line, struct error *e)
{
    const char *point, *key;
    if (json_unpack(line->json, "{s:s, s:s}", "point", &point, "key", &key) != 0)
        return wrong(line, "'key' needs point and key");
    if (strlen(point) >= sizeof j->keys->point || strlen(key) >= sizeof j->keys->key)
        return wrong(line, "the name of a point or its key is too long");
    return set_key(j, point, key, e) == OK;
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
    if (strcmp(event, "block") == 0)
        return take_block(j, line, e);
    if (strcmp(event, "retry") == 0)
        return take_retry(j, line);
    if (strcmp(event, "skipped") == 0)
        return take_skipped(j, line, e);
    if (strcmp(event, "able") == 0)
        return take_able(j, line);
    if (strcmp(event, "key") == 0)
        return take_key(j, line, e);
    if (strcmp(event, "finished") != 0)
        return wrong(line,
                     "event is none of block, running, done, retry, skipped, able, key, finished");
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
    return error_at(
        e, ERR_DATA, j->path, number, 0,
        "not a line of a journal: %s; nothing is written to it, --fresh begins a new run",
        line.why);
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
            find_outdated(&j->launches[i], key);
    }
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
    find_all_outdated(j);
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
                             run_names[launch->run], "block", launch->block, "seed",
                             (json_int_t)launch->seed, "key", launch->key, "at", running.at);
    if (json != NULL && launch->shares_cores)
        json_object_set_new(json, "shares_cores", json_true());
    TRY(write_line(j, json, e));
    j->finished = false; /* it was, for a spec that asked for less */
    end_launch(&running, &not_ended);
    return add_launch(j, &running, e);
}

/* A number is left out where it is unknown. */
static void set_number(json_t *json, const char *name, double number)
{
    if (json != NULL && isfinite(number))
        json_object_set_new(json, name, json_real(number));
}

enum status journal_done(struct journal *j, const struct journal_launch *ended, struct error *e)
{
    struct journal_launch *l = find_launch(j, ended->launch);
    if (l == NULL || l->status != LAUNCH_RUNNING || ended->status == LAUNCH_RUNNING)
        return error_at(e, ERR_ARGUMENT, j->path, 0, 0, "launch '%s' is not running",
                        ended->launch);
    json_t *json = json_pack("{s:s, s:s, s:s, s:o, s:f}", "event", "done", "launch", ended->launch,
                             "status", status_names[ended->status], "reason",
                             json_text(ended->reason), "wall_s", ended->wall_s);
    set_number(json, "foreign_pct", ended->foreign_pct);
    set_number(json, "step_ms", ended->step_ms);
    set_number(json, "images", ended->images);
    set_number(json, "comm_replay_ms", ended->comm_replay_ms);
    noise_write(json, &ended->noise);
    if (json != NULL && ended->exit_status >= 0)
        json_object_set_new(json, "exit_status", json_integer(ended->exit_status));
    TRY(write_line(j, json, e));
    end_launch(l, ended);
    return OK;
}

enum status journal_retry(struct journal *j, const char *launch, struct error *e)
{
    struct journal_launch *l = find_launch(j, launch);
    if (l == NULL || l->status == LAUNCH_RUNNING || l->retried)
        return error_at(e, ERR_ARGUMENT, j->path, 0, 0, "launch '%s' has not ended", launch);
    TRY(write_line(j, json_pack("{s:s, s:s}", "event", "retry", "launch", launch), e));
    take_back(j, l);
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
    TRY(add_block(j, block, n, e));
    for (size_t i = 0; i < n; i++)
        add_point(j, points[i]);
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

enum status journal_able(struct journal *j, const char *point, struct error *e)
{
    TRY(write_line(j, json_pack("{s:s, s:s}", "event", "able", "point", point), e));
    forget_skip(j, point);
    return OK;
}

enum status journal_key(struct journal *j, const char *point, const char *key, struct error *e)
{
    TRY(write_line(j, json_pack("{s:s, s:s, s:s}", "event", "key", "point", point, "key", key), e));
    TRY(set_key(j, point, key, e));
    for (size_t i = 0; i < j->n_launches; i++)
        if (strcmp(j->launches[i].point, point) == 0)
            find_outdated(&j->launches[i], find_key(j, point));
    return OK;
}

enum status journal_finished(struct journal *j, double wall_s, struct error *e)
{
    json_t *json = json_pack("{s:s, s:f}", "event", "finished", "wall_s", wall_s);
    TRY(write_line(j, json, e));
    j->finished = true;
    return OK;
}
