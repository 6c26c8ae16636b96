#include "bench/resources/proc_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

static size_t read_all(int fd, char *text, size_t room)
{
    size_t n = 0;
    while (n < room) {
        ssize_t more = read(fd, text + n, room - n);
        if (more < 0 && errno == EINTR)
            continue;
        if (more <= 0)
            break;
        n += (size_t)more;
    }
    return n;
}

bool proc_file_read(char *text, size_t size, const char *folder, const char *name)
{
    char path[4200];
    int length = snprintf(path, sizeof path, "%s/%s", folder, name);
    int fd = length < (int)sizeof path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    text[0] = '\0';
    if (fd < 0)
        return false;
    text[read_all(fd, text, size - 1)] = '\0';
    close(fd);
    return text[0] != '\0';
}
