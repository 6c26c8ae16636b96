#include "bench/base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

static const struct {
    mode_t type;
    const char *name, *refusal;
} kinds[] = {
#define KIND(type, name)                                                                           \
    {                                                                                              \
        type, name, "expected a regular file, found " name                                         \
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

/* Opens a file as file_open does; if `pipe`, also a FIFO. With O_NONBLOCK, open() does not wait for
 * a FIFO's writer. */
static int open_kind(const char *path, bool pipe, const char **why)
{
    struct stat info;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0 && errno == ENXIO)
        return refuse(fd, 0, "expected a regular file, found a socket", why);
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

int file_compare_names(const void *a, const void *b)
{
    return strverscmp(*(char *const *)a, *(char *const *)b);
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

bool file_first_line(const char *path, char *line, size_t size)
{
    FILE *f = fopen(path, "re");
    bool read = f != NULL && fgets(line, (int)size, f) != NULL;
    if (f != NULL)
        fclose(f);
    line[read ? strcspn(line, "\n") : 0] = '\0';
    return line[0] != '\0';
}

double file_number(const char *path)
{
    char line[64], *end;
    file_first_line(path, line, sizeof line);
    double number = strtod(line, &end);
    return end != line ? number : NAN;
}

const char *file_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash != NULL ? slash + 1 : path;
}

bool file_write_all(int fd, const void *bytes, size_t n)
{
    for (const char *next = bytes; n > 0;) {
        ssize_t written = write(fd, next, n);
        if (written < 0 && errno == EINTR)
            continue;
        if (written < 0)
            return false;
        next += written;
        n -= (size_t)written;
    }
    return true;
}

bool file_sync_folder(const char *folder)
{
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    bool synced = fd >= 0 && fsync(fd) == 0;
    int why = errno;
    if (fd >= 0)
        close(fd);
    errno = why;
    return synced;
}

#define SERVER "a server's answer in XML"

static const struct {
    const char *head; /* first characters of the file, after blanks; case is ignored */
    const char *what, *remedy;
} mistaken[] = {
    {"<!DOCTYPE html", "a web page", "Download the file again"},
    {"<html", "a web page", "Download the file again"},
    {"<?xml", SERVER, "Download the file again"},
    {"<Error>", SERVER, "Download the file again"},
    {"version https://git-lfs", "a pointer of Git LFS", "Run git lfs pull"},
    {"PK\3\4", "a zip archive (also written by torch.save)",
     "Unpack the archive, or write a state_dict with safetensors.torch.save_file"},
};

enum status file_check_head(const char *path, const void *head, size_t n, const char *format,
                            struct error *e)
{
    char text[FILE_HEAD_BYTES + 1] = "";
    memcpy(text, head, n < FILE_HEAD_BYTES ? n : FILE_HEAD_BYTES);
    /* Skips blanks and the UTF-8 byte order mark. */
    const char *begin = text + strspn(text, "\xef\xbb\xbf \t\r\n");
    for (size_t i = 0; i < sizeof mistaken / sizeof *mistaken; i++)
        if (strncasecmp(begin, mistaken[i].head, strlen(mistaken[i].head)) == 0)
            return error_at(e, ERR_DATA, path, 0, 0, "begins with '%.*s' like %s; expected %s. %s",
                            (int)strcspn(mistaken[i].head, "\3"), mistaken[i].head,
                            mistaken[i].what, format, mistaken[i].remedy);
    return OK;
}
