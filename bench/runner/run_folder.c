/* The folder of a run: found again by the campaign's identity, or begun. */
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "bench/runner/campaign.h"
#include "bench/runner/manifest.h"
#include "kernels/base/clock.h"

/* Runs are named <UTC time>-<first digits of the identity>. */
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

/* The newest run of this identity; false when there is none. */
static bool find_run(const struct campaign *c, char run[256])
{
    DIR *folder = opendir(c->folder);
    struct dirent *entry;
    run[0] = '\0';
    while (folder && (entry = readdir(folder)) != NULL)
        if (strcmp(entry->d_name, "latest") != 0 && strcmp(entry->d_name, run) > 0 &&
            has_identity(c, entry->d_name))
            snprintf(run, 256, "%s", entry->d_name);
    if (folder)
        closedir(folder);
    return run[0] != '\0';
}

/* Makes a folder that was not there; two runs within a second wait for one another's second. */
static enum status make_run(const struct campaign *c, char run[256], struct error *e)
{
    char path[PATH_BYTES], stamp[32];
    for (int attempt = 0; attempt < 3; attempt++) {
        time_t now = time(NULL);
        struct tm utc;
        gmtime_r(&now, &utc);
        strftime(stamp, sizeof stamp, "%Y%m%dT%H%M%SZ", &utc);
        snprintf(run, 256, "%s-%.*s", stamp, ID_DIGITS, c->identity.hex);
        enum status status = path_format(path, e, "%s/%s", c->folder, run);
        if (status != OK || mkdir(path, 0777) == 0)
            return status;
        if (errno != EEXIST)
            break;
        sleep(1);
    }
    return error_at(e, ERR_SYSTEM, path, 0, 0, "cannot make this folder: %s", strerror(errno));
}

static enum status write_spec(FILE *out, const void *arg, struct error *e)
{
    return spec_write(out, arg, e);
}

/* The manifest comes last: a run that has none was not begun properly and is not found again. */
static enum status describe_run(const struct campaign *c, struct error *e)
{
    char path[PATH_BYTES];
    struct manifest manifest = {.identity = c->identity.hex,
                                .spec = c->request->spec,
                                .set = c->request->set,
                                .command = c->request->command,
                                .tools = c->tools,
                                .machine = place_machine(c->place),
                                .link = site_link(config_text(&c->spec.config, OPT_SITE))};
    enum status status = path_format(path, e, "%s/spec.yaml", c->run_dir);
    if (status == OK)
        status = file_write(path, write_spec, &c->spec, e);
    if (status == OK)
        status = path_format(path, e, "%s/manifest.json", c->run_dir);
    if (status == OK)
        status = manifest_write(path, &manifest, e);
    return status;
}

/* Points <folder>/latest at `run`, in one step. */
static enum status link_latest(const struct campaign *c, const char *run, struct error *e)
{
    char temporary[PATH_BYTES], latest[PATH_BYTES];
    enum status status = path_format(temporary, e, "%s/.latest-%ld", c->folder, (long)getpid());
    if (status == OK)
        status = path_format(latest, e, "%s/latest", c->folder);
    if (status != OK)
        return status;
    unlink(temporary); /* of a runner with this number that was killed right here */
    if (symlink(run, temporary) != 0 || rename(temporary, latest) != 0)
        return error_at(e, ERR_SYSTEM, latest, 0, 0, "cannot link the run: %s", strerror(errno));
    return OK;
}

static enum status lock_journal(struct campaign *c, struct error *e)
{
    int64_t give_up = clock_ns() + LOCK_PATIENCE_NS;
    for (;;) {
        enum status status = journal_open(&c->journal, c->run_dir, true, e);
        if (status != ERR_UNAVAILABLE || clock_ns() >= give_up)
            return status;
        nanosleep(&(struct timespec){.tv_nsec = 100000000}, NULL);
    }
}

/* Records are named to ranks that may have another current folder. */
static enum status set_run_dir(struct campaign *c, const char *run, struct error *e)
{
    char *absolute = realpath(c->folder, NULL);
    if (!absolute)
        return error_at(e, ERR_SYSTEM, c->folder, 0, 0, "%s", strerror(errno));
    enum status status = path_format(c->run_dir, e, "%s/%s", absolute, run);
    free(absolute);
    return status;
}

enum status campaign_open_run(struct campaign *c, struct error *e)
{
    char run[256];
    enum status status =
        path_format(c->folder, e, "%s/%s", c->request->out, config_text(&c->spec.config, OPT_NAME));
    if (status == OK)
        status = folder_make(c->folder, e);
    if (status != OK)
        return status;
    c->resumed = !c->request->fresh && find_run(c, run);
    if (!c->resumed)
        status = make_run(c, run, e);
    if (status == OK)
        status = set_run_dir(c, run, e);
    if (status == OK && !c->resumed)
        status = describe_run(c, e);
    if (status == OK)
        status = lock_journal(c, e);
    if (status == OK)
        status = link_latest(c, run, e);
    return status;
}
