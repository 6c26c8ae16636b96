#include "bench/runner/core_locks.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bench/runner/files.h"

enum status core_locks_add(struct core_locks *l, const struct place_plan *plan, struct error *e)
{
    char all[4096] = ""; /* processor list of this process; filled at the first unbound rank */
    for (int r = 0; r < plan->ranks; r++) {
        const char *cpus = plan->slots[r].cpus;
        if (!cpus[0] && !all[0])
            TRY(place_read_back(all, sizeof all, e));
        if (!cpu_list_mark(l->cpus, cpus[0] ? cpus : all))
            return error_set(e, ERR_ARGUMENT, "expected a list of processors, found '%s'", cpus);
    }
    return OK;
}

/* Returns the number of a processor's core: the number of the core's first hardware thread. */
static int core_of(int cpu)
{
    char path[96], line[256];
    int first;
    snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/topology/thread_siblings_list", cpu);
    return file_first_line(path, line, sizeof line) && cpu_list_parse(line, &first, 1) > 0 ? first
                                                                                           : cpu;
}

/* Opens the folder of the lock files, after creating it if it does not exist. A new folder gets the
 * permissions of /tmp: all users may create files, and only a file's owner may remove the file. */
static enum status open_folder(int *folder, struct error *e)
{
    const char *chosen = getenv("SCALEBENCH_LOCKS");
    const char *path = chosen != NULL && *chosen ? chosen : "/tmp/scalebench-cores";
    if (mkdir(path, 0777) == 0)
        chmod(path, 01777);
    *folder = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    return *folder >= 0
               ? OK
               : error_at(e, ERR_SYSTEM, path, 0, 0, "cannot be opened: %s", strerror(errno));
}

/* Opens a core's lock file, or creates it. An existing file is opened without O_CREAT, which
 * kernels refuse for another user's file in a folder with the permissions of /tmp. */
static int open_file(int folder, const char *name)
{
    int fd = openat(folder, name, O_RDWR | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0 && errno == ENOENT) {
        fd = openat(folder, name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (fd >= 0)
            fchmod(fd, 0666);
        else if (errno == EEXIST)
            fd = openat(folder, name, O_RDWR | O_NOFOLLOW | O_CLOEXEC);
    }
    return fd;
}

static enum status lock_file(int fd, const char *name, const char *who, struct error *e)
{
    char line[512];
    if (flock(fd, LOCK_EX | LOCK_NB) == 0) {
        int length = snprintf(line, sizeof line, "%s\n", who);
        /* only other campaigns' messages use this line, so an error is ignored */
        bool written = ftruncate(fd, 0) == 0 && pwrite(fd, line, (size_t)length, 0) == length;
        (void)written;
        return OK;
    }
    if (errno != EWOULDBLOCK)
        return error_at(e, ERR_SYSTEM, name, 0, 0, "cannot lock: %s", strerror(errno));
    ssize_t n = pread(fd, line, sizeof line - 1, 0);
    line[n > 0 ? n : 0] = '\0';
    line[strcspn(line, "\n")] = '\0';
    return error_set(e, ERR_UNAVAILABLE, "%s is in use by %s", name,
                     *line ? line : "another scalebench");
}

static enum status take_core(struct core_locks *l, int folder, int core, const char *who,
                             struct error *e)
{
    char name[32];
    snprintf(name, sizeof name, "core %d", core);
    int fd = open_file(folder, name);
    if (fd < 0)
        return error_set(e, ERR_SYSTEM, "cannot open the lock file of %s: %s", name,
                         strerror(errno));
    enum status status = lock_file(fd, name, who, e);
    if (status == OK)
        l->fds[l->n++] = fd;
    else
        close(fd);
    return status;
}

enum status core_locks_take(struct core_locks *l, const char *who, struct error *e)
{
    int folder, seen = 0;
    enum status status = OK;
    TRY(open_folder(&folder, e));
    bool cores[CPUS_MAX] = {false};
    for (int cpu = 0; cpu < CPUS_MAX; cpu++)
        if (l->cpus[cpu])
            cores[core_of(cpu)] = true;
    for (int core = 0; core < CPUS_MAX && status == OK; core++)
        if (cores[core] && seen++ == l->n)
            status = take_core(l, folder, core, who, e);
    close(folder);
    return status;
}

void core_locks_release(struct core_locks *l)
{
    while (l->n > 0)
        close(l->fds[--l->n]);
}
