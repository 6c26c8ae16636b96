#include "bench/runner/owner.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "bench/base/log.h"
#include "kernels/base/clock.h"

#define STAMP  "%Y-%m-%dT%H:%M:%SZ"
#define SIGN_S 2
/* Time (s) without an update after which a runner of another host is assumed dead. On a busy
 * machine or a slow file system, several updates can be late. */
#define WATCH_S (3 * SIGN_S)
#define TRIES   3

static long now_s(void)
{
    return (long)(clock_ns() / 1000000000);
}

void owner_read(const char *run_dir, char line[512])
{
    char path[PATH_BYTES];
    if (path_format(path, NULL, "%s/runner", run_dir) != OK || !file_first_line(path, line, 512))
        snprintf(line, 512, "an unknown process");
}

static void name_self(struct owner *o, char host[256])
{
    char since[32], job[64] = "";
    const char *number = getenv("SLURM_JOB_ID");
    time_t now = time(NULL);
    struct tm utc;
    gmtime_r(&now, &utc);
    strftime(since, sizeof since, STAMP, &utc);
    host[0] = host[255] = '\0';
    gethostname(host, 255);
    if (number != NULL && number[0] != '\0')
        snprintf(job, sizeof job, " of job %.40s", number);
    snprintf(o->name, sizeof o->name, "process %ld%s on %s since %s", (long)getpid(), job, host,
             since);
}

enum status owner_refuse(const char *path, const char *line, struct error *e)
{
    char advice[160] = "repeat the command when it has ended";
    const char *job = strstr(line, " of job ");
    int holder = (int)strcspn(line, ","); /* length without the counter ", sign of life N" */
    if (job != NULL)
        job += strlen(" of job ");
    if (job != NULL)
        snprintf(advice, sizeof advice, "submit behind it: sbatch --dependency=afterany:%.*s ...",
                 (int)strcspn(job, " "), job);
    return error_at(e, ERR_UNAVAILABLE, path, 0, 0,
                    "another scalebench is running this campaign: %.*s; %s", holder, line, advice);
}

static bool is_of_host(const char *line, const char *host)
{
    char on[300];
    snprintf(on, sizeof on, " on %s since ", host);
    return strstr(line, on) != NULL;
}

/* Reads the start time of a runner from its line in the file; 0: the line has none. */
static time_t began(const char *line)
{
    struct tm utc = {0};
    const char *since = strstr(line, " since ");
    bool read = since != NULL && strptime(since, " since " STAMP, &utc) != NULL;
    return read ? timegm(&utc) : 0;
}

/* Watches the owner file of another host's runner for up to WATCH_S seconds. Returns true if the
 * file stays unchanged: the runner is assumed dead. A file that stays empty counts as unchanged:
 * its runner was killed while creating it. */
static bool watch(const char *run_dir, const char *path, const char *line)
{
    char now[512];
    long until = now_s() + WATCH_S;
    bool same = true;
    log_print(LOG_NOTE,
              "this run belongs to %s; waiting %d s to see whether the process still runs", line,
              WATCH_S);
    while (same && now_s() < until) {
        nanosleep(&(struct timespec){.tv_nsec = 500000000}, NULL);
        owner_read(run_dir, now);
        same = access(path, F_OK) == 0 && strcmp(now, line) == 0;
    }
    return same;
}

/* Creates the owner file with O_EXCL, which, unlike a lock, works on every file system.
 * ERR_UNAVAILABLE if the file exists. */
static enum status create(struct owner *o, struct error *e)
{
    int fd = open(o->path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd < 0)
        return error_at(e, errno == EEXIST ? ERR_UNAVAILABLE : ERR_SYSTEM, o->path, 0, 0, "%s",
                        strerror(errno));
    close(fd);
    o->next_s = 0;
    owner_sign(o);
    return OK;
}

enum status owner_take(struct owner *o, const char *run_dir, struct error *e)
{
    char host[256], line[512];
    name_self(o, host);
    enum status status = path_format(o->path, e, "%s/runner", run_dir);
    for (int i = 0; status == OK && i < TRIES; i++) {
        status = create(o, e);
        if (status != ERR_UNAVAILABLE)
            break;
        owner_read(run_dir, line);
        if (is_of_host(line, host) || watch(run_dir, o->path, line)) {
            o->left_since = began(line);
            unlink(o->path);
            status = OK;
            continue;
        }
        status = owner_refuse(o->path, line, e);
    }
    if (status != OK)
        o->path[0] = '\0';
    return status;
}

void owner_sign(struct owner *o)
{
    long now = now_s();
    if (!o->path[0] || now < o->next_s)
        return;
    o->next_s = now + SIGN_S;
    int fd = open(o->path, O_WRONLY | O_CLOEXEC);
    if (fd < 0)
        return; /* the error is ignored, since writing the journal reports a missing run folder */
    dprintf(fd, "%s, sign of life %u\n", o->name, o->signs++);
    close(fd); /* closing the file makes a network file system send the line now */
}

void owner_leave(struct owner *o)
{
    if (o->path[0])
        unlink(o->path);
    o->path[0] = '\0';
}

bool owner_lives(const char *run_dir, const char *line)
{
    char path[PATH_BYTES], host[256] = "";
    long process = 0;
    struct stat s;
    gethostname(host, sizeof host - 1);
    if (is_of_host(line, host) && sscanf(line, "process %ld", &process) == 1)
        return kill((pid_t)process, 0) == 0 || errno == EPERM;
    return path_format(path, NULL, "%s/runner", run_dir) == OK && stat(path, &s) == 0 &&
           time(NULL) - s.st_mtime <= WATCH_S;
}
