#include "bench/place/leftovers.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Folders in which MPI libraries create shared-memory files. MPICH uses the first folder that
 * exists; UCX uses /dev/shm. */
static const char *const FOLDERS[] = {"/dev/shm", "/tmp"};
static const char *const PREFIXES[] = {"mpich_shar_tmp", "ucx_shm_posix_"};

static bool is_open(const char *pid, const char *name)
{
    char path[64], target[512];
    snprintf(path, sizeof path, "/proc/%.20s/fd", pid);
    DIR *all = opendir(path);
    bool found = false;
    for (struct dirent *entry; all != NULL && !found && (entry = readdir(all)) != NULL;) {
        ssize_t n = readlinkat(dirfd(all), entry->d_name, target, sizeof target - 1);
        target[n > 0 ? n : 0] = '\0';
        found = strstr(target, name) != NULL;
    }
    if (all != NULL)
        closedir(all);
    return found;
}

static bool is_mapped(const char *pid, const char *name)
{
    char path[64], *line = NULL;
    size_t size = 0;
    bool found = false;
    snprintf(path, sizeof path, "/proc/%.20s/maps", pid);
    FILE *maps = fopen(path, "re");
    while (maps != NULL && !found && getline(&line, &size, maps) > 0)
        found = strstr(line, name) != NULL;
    if (maps != NULL)
        fclose(maps);
    free(line);
    return found;
}

/* Returns whether a process has the file open or mapped; true if /proc cannot be read. Checks open
 * files first. With the reverse order, a process that maps and closes the file between the two
 * checks would be missed. */
static bool is_held(const char *name)
{
    DIR *proc = opendir("/proc");
    bool found = proc == NULL; /* without /proc, assume that a process has the file open or
                                  mapped */
    for (struct dirent *entry; proc != NULL && !found && (entry = readdir(proc)) != NULL;)
        found = isdigit((unsigned char)entry->d_name[0]) &&
                (is_open(entry->d_name, name) || is_mapped(entry->d_name, name));
    if (proc != NULL)
        closedir(proc);
    return found;
}

/* Returns whether any process, even one that /proc hides, has the file open or mapped for writing.
 * The kernel then refuses a read lease (fcntl(2)). Also returns false if the file cannot be opened
 * or its folder does not support leases. */
static bool is_written(int folder, const char *name)
{
    struct sigaction before,
        ignore = {.sa_handler = SIG_IGN}; /* ignores SIGIO, which the kernel sends if a process
                                             opens the file for writing during the lease */
    int fd = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return false;
    sigaction(SIGIO, &ignore, &before);
    bool written = fcntl(fd, F_SETLEASE, F_RDLCK) != 0 && errno == EAGAIN;
    close(fd); /* closing the file also ends the lease on it (F_SETLEASE) */
    sigaction(SIGIO, &before, NULL);
    return written;
}

static bool has_prefix(const char *name)
{
    for (size_t i = 0; i < sizeof PREFIXES / sizeof *PREFIXES; i++)
        if (strncmp(name, PREFIXES[i], strlen(PREFIXES[i])) == 0)
            return true;
    return false;
}

static bool is_ours(int folder, const char *name, struct timespec begin)
{
    struct stat s;
    return has_prefix(name) && fstatat(folder, name, &s, AT_SYMLINK_NOFOLLOW) == 0 &&
           S_ISREG(s.st_mode) && s.st_uid == geteuid() &&
           (s.st_mtim.tv_sec > begin.tv_sec ||
            (s.st_mtim.tv_sec == begin.tv_sec && s.st_mtim.tv_nsec >= begin.tv_nsec));
}

int leftovers_remove(struct timespec begin)
{
    int held = 0;
    for (size_t i = 0; i < sizeof FOLDERS / sizeof *FOLDERS; i++) {
        DIR *folder = opendir(FOLDERS[i]);
        for (struct dirent *entry; folder != NULL && (entry = readdir(folder)) != NULL;) {
            if (!is_ours(dirfd(folder), entry->d_name, begin))
                continue;
            if (is_written(dirfd(folder), entry->d_name) || is_held(entry->d_name))
                held++;
            else
                unlinkat(dirfd(folder), entry->d_name, 0);
        }
        if (folder != NULL)
            closedir(folder);
    }
    return held;
}
