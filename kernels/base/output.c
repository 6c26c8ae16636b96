#include "kernels/base/output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

enum status output_check(const char *option, const char *path, struct error *e)
{
    bool is_there = access(path, F_OK) == 0;
    /* A FIFO that nobody reads is refused, not waited for. */
    int file = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NONBLOCK, 0666);
    if (file < 0)
        return error_set(e, ERR_ARGUMENT,
                         "%s: %s cannot be written: %s; expected a folder that exists and may be "
                         "written to",
                         option, path, strerror(errno));
    close(file);
    if (!is_there)
        unlink(path);
    return OK;
}
