#include "kernels/base/crash_reporter.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

/* Who waits for a message of the dead may crash before the launcher hears of it: of all children of
 * one launcher only the first to ask may speak. The name is free again when it ends. */
static bool may_speak(pid_t launcher)
{
    struct sockaddr_un name = {.sun_family = AF_UNIX};
    snprintf(name.sun_path + 1, sizeof name.sun_path - 1, "scalebench.keeper.%d", (int)launcher);
    int claim = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    return claim < 0 || bind(claim, (struct sockaddr *)&name, sizeof name) == 0 ||
           errno != EADDRINUSE;
}

/* The other end is the parent's alone: it closes with it. */
static _Noreturn void keep(int end, pid_t launcher, const char *words)
{
    const struct timespec moment = {.tv_nsec = 200000000};
    prctl(PR_SET_NAME, "keeper"); /* for those who look at processes */
    char goodbye, line[512];
    ssize_t n;
    do
        n = recv(end, &goodbye, 1, 0);
    while (n < 0 && errno == EINTR);
    if (n > 0 || !may_speak(launcher))
        _exit(0);
    int length = snprintf(line, sizeof line, "%s\n", words);
    if (length >= (int)sizeof line)
        length = (int)sizeof line - 1;
    if (write(STDERR_FILENO, line, (size_t)length) < 0)
        _exit(1);
    /* Launchers throw away what they have not read when the job ends. */
    nanosleep(&moment, NULL);
    _exit(0);
}

enum status keeper_start(int *keeper, const char *words, struct error *e)
{
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
        return error_set(e, ERR_SYSTEM, "socketpair: %s", strerror(errno));
    pid_t launcher = getppid(), child = fork();
    if (child == 0) {
        close(ends[1]);
        keep(ends[0], launcher, words);
    }
    int why = errno;
    close(ends[0]);
    if (child < 0) {
        close(ends[1]);
        return error_set(e, ERR_SYSTEM, "fork: %s", strerror(why));
    }
    *keeper = ends[1];
    return OK;
}

void keeper_goodbye(int keeper)
{
    /* A child that is gone wants none. */
    send(keeper, "g", 1, MSG_NOSIGNAL);
}
