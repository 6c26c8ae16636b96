#include "kernels/base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct {
    mode_t type;
    const char *name, *refusal;
} kinds[] = {
#define KIND(type, name)                                                                           \
    {                                                                                              \
        type, name, "it is " name ", not a regular file"                                           \
    }
    KIND(S_IFIFO, "a FIFO"),          KIND(S_IFDIR, "a folder"),  KIND(S_IFCHR, "a device"),
    KIND(S_IFBLK, "a device"),        KIND(S_IFSOCK, "a socket"), KIND(S_IFREG, "a regular file"),
    KIND(S_IFLNK, "a symbolic link"),
#undef KIND
};

#define KINDS (sizeof kinds / sizeof *kinds)

static size_t kind_index(mode_t mode)
{
    size_t i = 0;
    while (i < KINDS - 1 && kinds[i].type != (mode & S_IFMT))
        i++;
    return i;
}

const char *file_kind(mode_t mode)
{
    return kinds[kind_index(mode)].name;
}

static int refuse(int fd, int error, const char *why, const char **to)
{
    if (fd >= 0)
        close(fd);
    *to = why;
    errno = error;
    return -1;
}

/* O_NONBLOCK: else opening a FIFO waits for whoever writes to it. Reading then waits as ever. */
static int open_kind(const char *path, bool pipe, const char **why)
{
    struct stat info;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0 && errno == ENXIO)
        return refuse(fd, 0, "it is a socket, not a regular file", why);
    if (fd < 0 || fstat(fd, &info) != 0)
        return refuse(fd, errno, strerror(errno), why);
    if (!S_ISREG(info.st_mode) && !(pipe && S_ISFIFO(info.st_mode)))
        return refuse(fd, 0, kinds[kind_index(info.st_mode)].refusal, why);
    if (fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) & ~O_NONBLOCK) != 0)
        return refuse(fd, errno, strerror(errno), why);
    return fd;
}

static FILE *stream_of(int fd, const char **why)
{
    FILE *stream = fd < 0 ? NULL : fdopen(fd, "r");
    if (fd >= 0 && stream == NULL)
        refuse(fd, errno, strerror(errno), why);
    return stream;
}

int file_open(const char *path, const char **why)
{
    return open_kind(path, false, why);
}

FILE *file_open_stream(const char *path, const char **why)
{
    return stream_of(open_kind(path, false, why), why);
}

FILE *file_open_pipe(const char *path, const char **why)
{
    return stream_of(open_kind(path, true, why), why);
}

int file_glob(const char *folder, const char *pattern, int flags, glob_t *found)
{
    if (folder == NULL)
        return glob(pattern, flags, NULL, found);
    char *whole = malloc(2 * strlen(folder) + strlen(pattern) + 2), *to = whole;
    if (whole == NULL)
        return GLOB_NOSPACE;
    for (; *folder; *to++ = *folder++)
        if (strchr("[]*?\\", *folder) != NULL)
            *to++ = '\\';
    *to++ = '/';
    strcpy(to, pattern);
    int result = glob(whole, flags, NULL, found);
    free(whole);
    return result;
}
