/* The folder of a run: found again by the campaign's identity, or begun. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "bench/runner/campaign.h"
#include "bench/runner/manifest.h"
#include "kernels/base/clock.h"

/* Runs are named <UTC time>-<first digits of the identity>. */
#define STAMP     "%Y%m%dT%H%M%SZ"
#define ID_DIGITS 8
/* A guard of a runner that was killed holds the journal until its launch is cleaned up. */
#define LOCK_PATIENCE_NS ((int64_t)10000000000)

static bool has_identity(const struct campaign *c, const char *run)
{
    char path[PATH_BYTES];
    struct manifest_facts facts;
    size_t n = strlen(run);
    return n > ID_DIGITS && strncmp(run + n - ID_DIGITS, c->identity.hex, ID_DIGITS) == 0 &&
           path_format(path, NULL, "%s/%s", c->folder, run) == OK && manifest_read(path, &facts) &&
           strcmp(facts.identity, c->identity.hex) == 0;
}

/* "20261122T080000Z-1a2b3c4d" */
static bool is_run(const char *name)
{
    struct tm utc = {0};
    const char *end = strptime(name, STAMP, &utc);
    return end != NULL && *end == '-' && strlen(end + 1) == ID_DIGITS;
}

/* The last run by name, of this identity or of any; false when there is none. Names are in the
 * order in which runs were begun. */
static bool find_run(const struct campaign *c, bool of_identity, char run[256])
{
    DIR *folder = opendir(c->folder);
    struct dirent *entry;
    run[0] = '\0';
    while (folder != NULL && (entry = readdir(folder)) != NULL)
        if (is_run(entry->d_name) && strcmp(entry->d_name, run) > 0 &&
            (!of_identity || has_identity(c, entry->d_name)))
            snprintf(run, 256, "%s", entry->d_name);
    if (folder != NULL)
        closedir(folder);
    return run[0] != '\0';
}

/* Makes a folder that was not there, named by the time: a second after the last run where the clock
 * says that it is no later, so that the order of names is that of runs. */
static enum status make_run(const struct campaign *c, char run[256], struct error *e)
{
    char path[PATH_BYTES], stamp[32], last[256];
    struct tm utc = {0};
    time_t now = time(NULL);
    if (find_run(c, false, last)) {
        strptime(last, STAMP, &utc);
        time_t next = timegm(&utc) + 1;
        now = now < next ? next : now;
    }
    gmtime_r(&now, &utc);
    strftime(stamp, sizeof stamp, STAMP, &utc);
    snprintf(run, 256, "%s-%.*s", stamp, ID_DIGITS, c->identity.hex);
    TRY(path_format(path, e, "%s/%s", c->folder, run));
    if (mkdir(path, 0777) == 0)
        return OK;
    return error_at(e, ERR_SYSTEM, path, 0, 0, "cannot make this folder: %s", strerror(errno));
}

static enum status write_spec(FILE *out, const void *arg, struct error *e)
{
    return spec_write(out, arg, e);
}

/* Copies the files that the spec names into the run, and has them read from there: what changes
 * outside does not change what runs, and the folder draws and runs elsewhere. */
static enum status keep_inputs(struct campaign *c, struct error *e)
{
    for (size_t i = 0; i < c->spec.n_inputs; i++) {
        struct spec_input *input = &c->spec.inputs[i];
        char path[PATH_BYTES];
        TRY(path_format(path, e, "%s/%s", c->run_dir, input->copy));
        TRY(file_copy(path, input->path, e));
        char *kept = strdup(path);
        if (kept == NULL)
            return error_no_memory(e, "a path");
        free(input->path);
        input->path = kept;
    }
    return OK;
}

/* The manifest comes last: a run that has none was not begun properly and is not found again. */
static enum status describe_run(const struct campaign *c, struct error *e)
{
    char path[PATH_BYTES];
    struct manifest manifest = {.identity = &c->identity,
                                .workloads = &c->workloads,
                                .spec = c->request->spec,
                                .set = c->request->set,
                                .command = c->request->command,
                                .tools = c->tools,
                                .machine = place_machine(c->place),
                                .link = site_link(&c->spec.config)};
    TRY(path_format(path, e, "%s/spec.yaml", c->run_dir));
    TRY(file_write(path, write_spec, &c->spec, e));
    TRY(path_format(path, e, "%s/manifest.json", c->run_dir));
    return manifest_write(path, &manifest, e);
}

/* Held by one runner at a time while it looks for a run, begins one or moves `latest`. */
static enum status lock_folder(const struct campaign *c, int *lock, struct error *e)
{
    char path[PATH_BYTES];
    int failed;
    TRY(path_format(path, e, "%s/.lock", c->folder));
    *lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (*lock < 0)
        return error_at(e, ERR_SYSTEM, path, 0, 0, "%s", strerror(errno));
    do
        failed = flock(*lock, LOCK_EX);
    while (failed && errno == EINTR);
    if (!failed)
        return OK;
    error_at(e, ERR_SYSTEM, path, 0, 0, "flock: %s", strerror(errno));
    close(*lock);
    return ERR_SYSTEM;
}

/* Points <folder>/latest at the run, in one step. */
enum status campaign_link_latest(const struct campaign *c, struct error *e)
{
    char temporary[PATH_BYTES], latest[PATH_BYTES];
    const char *run = strrchr(c->run_dir, '/') + 1;
    int lock;
    enum status status = OK;
    TRY(path_format(temporary, e, "%s/.latest", c->folder));
    TRY(path_format(latest, e, "%s/latest", c->folder));
    TRY(lock_folder(c, &lock, e));
    unlink(temporary); /* of one that was killed right here */
    if (symlink(run, temporary) != 0 || rename(temporary, latest) != 0) {
        status = error_at(e, ERR_SYSTEM, latest, 0, 0, "cannot link the run: %s", strerror(errno));
        unlink(temporary);
    }
    close(lock);
    return status;
}

/* Records are named to ranks that may have another current folder. */
static enum status set_run_dir(struct campaign *c, const char *run, struct error *e)
{
    char *absolute = realpath(c->folder, NULL);
    if (absolute == NULL)
        return error_at(e, ERR_SYSTEM, c->folder, 0, 0, "%s", strerror(errno));
    enum status status = path_format(c->run_dir, e, "%s/%s", absolute, run);
    free(absolute);
    return status;
}

/* One that is begun here is also ours before anybody else can find it. */
static enum status find_or_begin(struct campaign *c, struct error *e)
{
    char run[256];
    c->resumed = !c->request->fresh && find_run(c, true, run);
    if (!c->resumed)
        TRY(make_run(c, run, e));
    TRY(set_run_dir(c, run, e));
    TRY(keep_inputs(c, e));
    if (!c->resumed)
        TRY(describe_run(c, e));
    return journal_open(&c->journal, c->run_dir, true, e);
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
    enum status status = ERR_UNAVAILABLE;
    for (int64_t until = clock_ns() + LOCK_PATIENCE_NS;
         status == ERR_UNAVAILABLE && clock_ns() < until;) {
        nanosleep(&(struct timespec){.tv_nsec = 100000000}, NULL);
        status = journal_open(&c->journal, c->run_dir, true, e);
    }
    if (status != ERR_UNAVAILABLE)
        return status;
    owner_read(c->run_dir, line);
    return error_at(e, status, c->run_dir, 0, 0, "another scalebench is running this campaign: %s",
                    line);
}

enum status campaign_open_run(struct campaign *c, struct error *e)
{
    TRY(path_format(c->folder, e, "%s/%s", c->request->out,
                    config_text(&c->spec.config, OPT_NAME)));
    TRY(folder_make(c->folder, e));
    enum status status = choose_run(c, e);
    TRY(status == ERR_UNAVAILABLE ? wait_for_journal(c, e) : status);
    TRY(owner_take(&c->owner, c->run_dir, e));
    return campaign_link_latest(c, e);
}
