#include "bench/base/descriptors.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

void descriptors_open_standard(void)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) < 0 &&
            open("/dev/null", fd == STDOUT_FILENO ? O_RDONLY : O_RDWR) < 0)
            _exit(1); /* no message, as standard error may be closed */
}

int descriptors_end_output(const char *program, int exit_status)
{
    if (fflush(stdout) == 0 && !ferror(stdout))
        return exit_status;
    fprintf(stderr, "%s: standard output cannot be written\n", program);
    return exit_status != 0 ? exit_status : 1;
}
