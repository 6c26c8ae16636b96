/* Finds the run of a campaign that can be resumed, or begins a new run. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sha2.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "bench/base/log.h"
#include "bench/base/output.h"
#include "bench/runner/campaign.h"
#include "bench/runner/manifest.h"
#include "bench/runner/run_spec.h"
#include "bench/runner/runs.h"
#include "kernels/base/clock.h"

/* time (ns) to wait for the journal's lock. After a runner was killed, its cleanup process (guard)
 * holds the lock until the cleanup is done */
#define LOCK_PATIENCE_NS ((int64_t)10000000000)

static bool is_asked(const struct campaign *c, const char *id)
{
    size_t point = spec_find_point(&c->spec, id);
    return point < c->spec.n_points && c->spec.points[point].requested;
}

/* Returns whether the campaign requests a point that the run's last spec requests or that has a
 * launch in the run's journal. Also true if the run's spec cannot be read. */
static bool shares_points(const struct campaign *c, const struct run *run)
{
    struct spec spec = {0};
    struct journal journal = {.fd = -1};
    struct error why;
    bool shares = run_spec_load(&spec, run->path, NULL, &why) != OK;
    for (size_t i = 0; i < spec.n_points && !shares; i++)
        shares = spec.points[i].requested && is_asked(c, spec.points[i].id);
    if (!shares && journal_open(&journal, run->path, false, &why) == OK)
        for (size_t i = 0; i < journal.n_launches && !shares; i++)
            shares = is_asked(c, journal.launches[i].point);
    journal_close(&journal);
    spec_free(&spec);
    return shares;
}

static bool has_facts(const struct campaign *c, const struct run *run)
{
    return run->facts != NULL && facts_allow_resume(run->facts, c->facts, &c->spec);
}

static const struct run *find_run(const struct campaign *c, const struct runs *runs)
{
    for (size_t i = runs->n; i-- > 0;)
        if (has_facts(c, &runs->all[i]) && shares_points(c, &runs->all[i]))
            return &runs->all[i];
    return NULL;
}

enum status campaign_find_run(const struct campaign *c, char run_dir[PATH_BYTES], struct error *e)
{
    char folder[PATH_BYTES];
    struct runs runs;
    run_dir[0] = '\0';
    TRY(path_format(folder, e, "%s/%s", c->request->out, config_text(&c->spec.config, OPT_NAME)));
    enum status status = runs_read(&runs, folder, e);
    const struct run *run = status == OK ? find_run(c, &runs) : NULL;
    if (run != NULL)
        status = path_format(run_dir, e, "%s", run->path);
    runs_free(&runs);
    return status;
}

/* Finds the newest folder that is named like a run, even one without a manifest. Returns false if
 * there is none. */
static bool find_last(const struct campaign *c, char last[256])
{
    DIR *folder = opendir(c->folder);
    struct dirent *entry;
    last[0] = '\0';
    while (folder != NULL && (entry = readdir(folder)) != NULL)
        if (run_is_name(entry->d_name) && strcmp(entry->d_name, last) > 0)
            snprintf(last, 256, "%s", entry->d_name);
    if (folder != NULL)
        closedir(folder);
    return last[0] != '\0';
}

/* Creates a new run's folder and writes its name to `run`. The time in the name is later than in
 * the name of any other run of the campaign, so sorting the names gives the order in which the runs
 * started. */
static enum status make_run(const struct campaign *c, char run[64], struct error *e)
{
    char path[PATH_BYTES], stamp[32], last[256], identity[65];
    struct tm utc = {0};
    time_t now = time(NULL);
    if (find_last(c, last)) {
        strptime(last, RUN_STAMP, &utc);
        time_t next = timegm(&utc) + 1;
        now = now < next ? next : now;
    }
    gmtime_r(&now, &utc);
    strftime(stamp, sizeof stamp, RUN_STAMP, &utc);
    TRY(facts_digest(identity, c->facts, e));
    snprintf(run, 64, "%s-%.*s", stamp, RUN_ID_DIGITS, identity);
    TRY(path_format(path, e, "%s/%s", c->folder, run));
    if (mkdir(path, 0777) == 0)
        return OK;
    return error_at(e, output_refuse(errno), path, 0, 0, "cannot create this folder: %s; %s",
                    strerror(errno), output_expected(errno));
}

/* Writes how a fact has changed since a run: "the program x differs from <run> (revision r):
 * SHA-256 3fa9... then, SHA-256 c07b... now". */
static void explain_fact(char text[2048], const struct campaign *c, const struct run *run,
                         const char *name)
{
    char what[600], was[200], is[200];
    fact_explain(what, sizeof what, name);
    fact_shorten(was, sizeof was, json_string_value(json_object_get(run->facts, name)));
    fact_shorten(is, sizeof is, json_string_value(json_object_get(c->facts, name)));
    snprintf(text, 2048, "%s differs from %.700s (revision %s): %s then, %s now", what, run->path,
             run->revision, was, is);
}

static void explain_further_facts(const struct campaign *c, const struct run *run, const char *name)
{
    char what[600];
    for (size_t n = 0; (name = facts_differ(run->facts, c->facts, name)) != NULL; n++) {
        fact_explain(what, sizeof what, name);
        log_print(n < 3 ? LOG_NOTE : LOG_DETAIL, "%s has also changed since the earlier run", what);
    }
}

static void explain_change(const struct campaign *c, const struct run *run)
{
    char text[2048];
    const char *name = facts_differ(run->facts, c->facts, NULL);
    if (name == NULL)
        return;
    explain_fact(text, c, run, name);
    log_print(LOG_NOTE,
              "%s. Earlier launches are kept, but are used only %s. Use --fresh to begin a new run",
              text, fact_way_back(name));
    explain_further_facts(c, run, name);
}

static void explain_points(const struct campaign *c, const struct run *last)
{
    struct spec spec = {0};
    struct error why;
    char change[RUN_CHANGE] = "";
    if (run_spec_load(&spec, last->path, NULL, &why) == OK)
        run_spec_change(change, &spec, &c->spec);
    log_print(LOG_NOTE,
              "%s and this spec have no point in common%s: a new run begins. To resume the earlier "
              "run, restore its options and files",
              last->path, change);
    spec_free(&spec);
}

static void explain_new_run(const struct campaign *c, const struct run *last)
{
    char text[2048];
    if (has_facts(c, last)) {
        explain_points(c, last);
        return;
    }
    const char *name = last->facts != NULL ? facts_differ(last->facts, c->facts, NULL) : NULL;
    if (last->facts == NULL)
        log_print(
            LOG_NOTE,
            "%s cannot be resumed, since early versions of scalebench did not record machine and "
            "programs in the manifest. A new run begins. `scalebench table` and `scalebench "
            "figures` still show the earlier run",
            last->path);
    if (name == NULL)
        return;
    explain_fact(text, c, last, name);
    log_print(LOG_NOTE, "%s: a new run begins. Run the same command %s to resume the earlier run",
              text, fact_way_back(name));
    explain_further_facts(c, last, name);
}

/* Prints a note if the newest run has a journal but no readable manifest: its launches are then not
 * used. */
static void report_unknown_run(const struct campaign *c, const struct runs *runs)
{
    char last[256], journal[PATH_BYTES];
    if (!find_last(c, last) || (runs->n > 0 && strcmp(runs->all[runs->n - 1].name, last) == 0))
        return;
    if (path_format(journal, NULL, "%s/%s/journal.jsonl", c->folder, last) == OK &&
        path_exists(journal))
        log_print(LOG_NOTE,
                  "%s/%s has a journal, but its manifest.json is missing or cannot be read: this "
                  "run is left unchanged and cannot be resumed",
                  c->folder, last);
}

static enum status write_spec(FILE *out, const void *arg, struct error *e)
{
    return spec_write(out, arg, e);
}

static bool have_equal_bytes(const char *a, const char *b)
{
    char one[65], other[65];
    return SHA256File(a, one) != NULL && SHA256File(b, other) != NULL && strcmp(one, other) == 0;
}

/* Finds a path for the copy of an input file, for example models/net.yaml in the run. If the run
 * has another file there, uses models/<digits of the hash>/net.yaml. */
static enum status name_copy(const struct campaign *c, struct spec_input *input,
                             char path[PATH_BYTES], struct error *e)
{
    char hex[65], *copy = NULL;
    const char *file = strrchr(input->copy, '/');
    TRY(path_format(path, e, "%s/%s", c->run_dir, input->copy));
    if (!path_exists(path) || have_equal_bytes(path, input->path))
        return OK;
    if (SHA256File(input->path, hex) == NULL)
        return error_at(e, ERR_SYSTEM, input->path, 0, 0, "cannot be read: %s", strerror(errno));
    if (asprintf(&copy, "%.*s/%.8s%s", (int)(file - input->copy), input->copy, hex, file) < 0)
        return error_no_memory(e, "a path");
    free(input->copy);
    input->copy = copy;
    return path_format(path, e, "%s/%s", c->run_dir, copy);
}

/* Copies the files that the spec names to the run's folder, and uses the copies. Later changes of
 * the originals then do not affect launches. */
static enum status keep_inputs(struct campaign *c, struct error *e)
{
    for (size_t i = 0; i < c->spec.n_inputs; i++) {
        struct spec_input *input = &c->spec.inputs[i];
        char path[PATH_BYTES];
        TRY(name_copy(c, input, path, e));
        if (!path_exists(path))
            TRY(file_copy(path, input->path, e));
        char *kept = strdup(path);
        if (kept == NULL)
            return error_no_memory(e, "a path");
        free(input->path);
        input->path = kept;
    }
    return OK;
}

/* Writes spec and manifest of a new run. The manifest is last, because a run without one is never
 * resumed. */
static enum status describe_run(struct campaign *c, struct error *e)
{
    char path[PATH_BYTES];
    TRY(keep_inputs(c, e));
    TRY(path_format(path, e, "%s/spec.yaml", c->run_dir));
    TRY(file_write(path, write_spec, &c->spec, e));
    TRY(path_format(path, e, "%s/manifest.json", c->run_dir));
    return manifest_write(path, c, e);
}

/* Copies the run's earlier spec at `path` to the first unused name spec-<number>.yaml, unless an
 * earlier copy has the same content. Writes the name of the new or equal copy to `kept`. */
static enum status keep_spec(const struct campaign *c, const char *path, char kept[32],
                             struct error *e)
{
    char copy[PATH_BYTES];
    for (int i = 1;; i++) {
        snprintf(kept, 32, "spec-%03d.yaml", i);
        TRY(path_format(copy, e, "%s/%s", c->run_dir, kept));
        if (!path_exists(copy))
            return file_copy(copy, path, e);
        if (have_equal_bytes(copy, path))
            return OK;
    }
}

/* Updates spec and manifest of a resumed run, whose journal the caller has locked. */
static enum status renew_run(struct campaign *c, struct error *e)
{
    char path[PATH_BYTES], fresh[PATH_BYTES], kept[32] = "";
    TRY(keep_inputs(c, e));
    TRY(path_format(path, e, "%s/spec.yaml", c->run_dir));
    TRY(path_format(fresh, e, "%s/spec.new", c->run_dir));
    TRY(file_write(fresh, write_spec, &c->spec, e));
    if (have_equal_bytes(path, fresh)) {
        unlink(fresh);
    } else {
        if (path_exists(path))
            TRY(keep_spec(c, path, kept, e));
        if (rename(fresh, path) != 0)
            return error_at(e, ERR_SYSTEM, path, 0, 0, "%s", strerror(errno));
    }
    TRY(path_format(path, e, "%s/manifest.json", c->run_dir));
    return manifest_update(path, c, kept[0] ? kept : NULL, e);
}

/* Locks the campaign's folder. Only one runner at a time may search for a run, begin one, or change
 * `latest`. */
static enum status lock_folder(const struct campaign *c, int *lock, struct error *e)
{
    char path[PATH_BYTES];
    int failed;
    TRY(path_format(path, e, "%s/.lock", c->folder));
    *lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (*lock < 0)
        return error_at(e, ERR_SYSTEM, c->folder, 0, 0,
                        "cannot write here: %s. Use --out for another folder of results",
                        strerror(errno));
    do
        failed = flock(*lock, LOCK_EX);
    while (failed && errno == EINTR);
    if (!failed)
        return OK;
    error_at(e, ERR_SYSTEM, path, 0, 0, "cannot lock this file: %s", strerror(errno));
    close(*lock);
    return ERR_SYSTEM;
}

enum status campaign_link_latest(const struct campaign *c, struct error *e)
{
    char temporary[PATH_BYTES], latest[PATH_BYTES];
    const char *run = strrchr(c->run_dir, '/') + 1;
    int lock;
    enum status status = OK;
    TRY(path_format(temporary, e, "%s/.latest", c->folder));
    TRY(path_format(latest, e, "%s/latest", c->folder));
    TRY(lock_folder(c, &lock, e));
    unlink(temporary); /* left by a runner that was killed between symlink and rename */
    if (symlink(run, temporary) != 0 || rename(temporary, latest) != 0) {
        status = error_at(e, ERR_SYSTEM, latest, 0, 0, "cannot update this link: %s",
                          errno == EISDIR ? "a folder is in the way" : strerror(errno));
        unlink(temporary);
    }
    close(lock);
    return status;
}

/* Sets c->run_dir to an absolute path, because ranks can have another current folder. */
static enum status set_run_dir(struct campaign *c, const char *run, struct error *e)
{
    char *absolute = realpath(c->folder, NULL);
    if (absolute == NULL)
        return error_at(e, ERR_SYSTEM, c->folder, 0, 0, "%s", strerror(errno));
    enum status status = path_format(c->run_dir, e, "%s/%s", absolute, run);
    free(absolute);
    return status;
}

static enum status begin_run(struct campaign *c, const struct runs *runs, struct error *e)
{
    char run[64];
    if (runs->n > 0 && !c->request->fresh)
        explain_new_run(c, &runs->all[runs->n - 1]);
    TRY(make_run(c, run, e));
    TRY(set_run_dir(c, run, e));
    return describe_run(c, e);
}

/* Finds the run to resume, or begins one, and opens its journal. The caller keeps the campaign's
 * folder locked until the journal is locked. */
static enum status find_or_begin(struct campaign *c, struct error *e)
{
    struct runs runs;
    enum status status = runs_read(&runs, c->folder, e);
    const struct run *run = status == OK && !c->request->fresh ? find_run(c, &runs) : NULL;
    c->resumed = run != NULL;
    if (status == OK && !c->request->fresh)
        report_unknown_run(c, &runs);
    if (run != NULL && run != &runs.all[runs.n - 1])
        log_print(LOG_NOTE,
                  "resuming %s, because later runs differ from this command in options, machine, "
                  "link or programs",
                  run->path);
    if (run != NULL)
        status = set_run_dir(c, run->name, e);
    else
        THEN(status, begin_run(c, &runs, e));
    runs_free(&runs);
    THEN(status, journal_open(&c->journal, c->run_dir, true, e));
    return status;
}

static enum status choose_run(struct campaign *c, struct error *e)
{
    int lock;
    TRY(lock_folder(c, &lock, e));
    enum status status = find_or_begin(c, e);
    close(lock);
    return status;
}

static enum status wait_for_journal(struct campaign *c, struct error *e)
{
    char line[512];
    bool reported = false;
    enum status status = ERR_UNAVAILABLE;
    int64_t begin = clock_ns();
    while (status == ERR_UNAVAILABLE && clock_ns() < begin + LOCK_PATIENCE_NS) {
        nanosleep(&(struct timespec){.tv_nsec = 100000000}, NULL);
        if (!reported && clock_ns() > begin + 1000000000) {
            reported = true;
            owner_read(c->run_dir, line);
            log_print(LOG_NOTE,
                      "another scalebench is running this campaign: %.*s; waiting up to 10 s "
                      "for the process to end",
                      (int)strcspn(line, ","), line);
        }
        status = journal_open(&c->journal, c->run_dir, true, e);
    }
    if (status != ERR_UNAVAILABLE)
        return status;
    owner_read(c->run_dir, line);
    return owner_refuse(c->run_dir, line, e);
}

/* Reads the run's facts and the seed of its launch order. *fits: whether the campaign can still
 * resume the run; another scalebench process may have changed the facts. */
static enum status read_identity(struct campaign *c, bool *fits, struct error *e)
{
    struct run run;
    char first[17];
    bool read = run_read(&run, c->run_dir);
    *fits = read && run.facts != NULL && facts_allow_resume(run.facts, c->facts, &c->spec);
    if (*fits)
        explain_change(c, &run);
    snprintf(first, sizeof first, "%.16s", run.identity);
    c->seed = strtoull(first, NULL, 16);
    run_free(&run);
    return read ? OK : error_at(e, ERR_DATA, c->run_dir, 0, 0, "manifest.json not found");
}

static enum status take_run(struct campaign *c, bool *fits, struct error *e)
{
    enum status status = choose_run(c, e);
    TRY(status == ERR_UNAVAILABLE ? wait_for_journal(c, e) : status);
    TRY(owner_take(&c->owner, c->run_dir, e));
    TRY(read_identity(c, fits, e));
    return c->resumed && *fits ? renew_run(c, e) : OK;
}

enum status campaign_open_run(struct campaign *c, struct error *e)
{
    TRY(path_format(c->folder, e, "%s/%s", c->request->out,
                    config_text(&c->spec.config, OPT_NAME)));
    TRY(folder_make(c->folder, e));
    for (bool fits = false; !fits;) {
        TRY(take_run(c, &fits, e));
        if (fits)
            break;
        owner_leave(&c->owner);
        journal_close(&c->journal);
    }
    return campaign_link_latest(c, e);
}
