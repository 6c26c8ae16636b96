#include "kernels/base/descriptors.h"

#include <fcntl.h>
#include <unistd.h>

void descriptors_open_standard(void)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", O_RDWR) < 0)
            _exit(1); /* and nowhere to say so */
}
