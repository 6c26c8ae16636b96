#include "bench/base/crash_reporter.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

/* A rank that waits for a dead one may crash in turn before the launcher hears of the first death:
 * of all reporters of one launcher only the first to claim this name may report. The name is free
 * again when that one ends. */
static bool may_report(pid_t launcher)
{
    struct sockaddr_un name = {.sun_family = AF_UNIX};
    snprintf(name.sun_path + 1, sizeof name.sun_path - 1, "scalebench.crash_reporter.%d",
             (int)launcher);
    int claim = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    return claim < 0 || bind(claim, (struct sockaddr *)&name, sizeof name) == 0 ||
           errno != EADDRINUSE;
}

/* The other end is the parent's alone: it closes with it. */
static _Noreturn void report(int end, pid_t launcher, const char *message)
{
    const struct timespec moment = {.tv_nsec = 200000000};
    prctl(PR_SET_NAME, "crash_reporter"); /* what ps shows */
    char stop, line[512];
    ssize_t n;
    do
        n = recv(end, &stop, 1, 0);
    while (n < 0 && errno == EINTR);
    if (n > 0 || !may_report(launcher))
        _exit(0);
    int length = snprintf(line, sizeof line, "%s\n", message);
    if (length >= (int)sizeof line)
        length = (int)sizeof line - 1;
    if (write(STDERR_FILENO, line, (size_t)length) < 0)
        _exit(1);
    /* Launchers throw away what they have not read when the job ends. */
    nanosleep(&moment, NULL);
    _exit(0);
}

enum status crash_reporter_start(int *reporter, const char *message, struct error *e)
{
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
        return error_set(e, ERR_SYSTEM, "socketpair: %s", strerror(errno));
    pid_t launcher = getppid(), child = fork();
    if (child == 0) {
        close(ends[1]);
        report(ends[0], launcher, message);
    }
    int why = errno;
    close(ends[0]);
    if (child < 0) {
        close(ends[1]);
        return error_set(e, ERR_SYSTEM, "fork: %s", strerror(why));
    }
    *reporter = ends[1];
    return OK;
}

void crash_reporter_stop(int reporter)
{
    /* The child may have been killed: then there is nothing to stop. */
    send(reporter, "s", 1, MSG_NOSIGNAL);
}
