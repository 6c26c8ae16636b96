#include "bench/base/output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

enum status output_refuse(int why)
{
    static const int of_path[] = {EACCES, EEXIST, EISDIR,  ELOOP, ENAMETOOLONG,
                                  ENOENT, ENXIO,  ENOTDIR, EPERM, EROFS};
    for (size_t i = 0; i < sizeof of_path / sizeof *of_path; i++)
        if (why == of_path[i])
            return ERR_ARGUMENT;
    return ERR_SYSTEM;
}

const char *output_expected(int why)
{
    return why == EISDIR ? "expected a file, not a folder"
                         : "expected a path in a folder that exists and is writable";
}

enum status output_check(const char *option, const char *path, struct error *e)
{
    bool is_there = access(path, F_OK) == 0;
    /* O_NONBLOCK refuses a FIFO without a reader instead of waiting. */
    int file = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NONBLOCK, 0666);
    if (file < 0)
        return error_set(e, ERR_ARGUMENT, "%s: %s cannot be written: %s; %s", option, path,
                         strerror(errno), output_expected(errno));
    close(file);
    if (!is_there)
        unlink(path);
    return OK;
}
