#include "bench/base/crash_reporter.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

/* Claims the launcher's abstract socket name until this process exits. Returns false if another
 * reporter has the name: only the first death is reported. */
static bool may_report(pid_t launcher)
{
    struct sockaddr_un name = {.sun_family = AF_UNIX};
    snprintf(name.sun_path + 1, sizeof name.sun_path - 1, "scalebench.crash_reporter.%d",
             (int)launcher);
    int claim = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    return claim < 0 || bind(claim, (struct sockaddr *)&name, sizeof name) == 0 ||
           errno != EADDRINUSE;
}

/* Prints `message` if the parent dies before it stops the reporter. recv then returns 0, since only
 * the parent holds the other end. Prints nothing if another reporter of this launcher was first. */
static _Noreturn void report(int end, pid_t launcher, const char *message)
{
    const struct timespec moment = {.tv_nsec = 200000000};
    prctl(PR_SET_NAME, "crash_reporter"); /* name of the child in ps */
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
    /* Gives the launcher time to read the line. At the end of a job, launchers discard unread
     * output. */
    nanosleep(&moment, NULL);
    _exit(0);
}

/* Delays SIGABRT in the parent. A communication library may abort this process because a peer died.
 * The peer's reporter must print first. */
static void abort_late(int signal)
{
    nanosleep(&(const struct timespec){.tv_nsec = 500000000}, NULL);
    raise(signal); /* ends the process: SA_RESETHAND has restored the default action */
}

enum status crash_reporter_start(int *reporter, const char *message, struct error *e)
{
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
        return error_set(e, ERR_SYSTEM, "cannot start the crash reporter: socketpair: %s",
                         strerror(errno));
    pid_t launcher = getppid(), child = fork();
    if (child == 0) {
        close(ends[1]);
        report(ends[0], launcher, message);
    }
    int why = errno;
    close(ends[0]);
    if (child < 0) {
        close(ends[1]);
        return error_set(e, ERR_SYSTEM, "cannot start the crash reporter: fork: %s", strerror(why));
    }
    const struct sigaction late = {.sa_handler = abort_late, .sa_flags = SA_RESETHAND};
    sigaction(SIGABRT, &late, NULL);
    *reporter = ends[1];
    return OK;
}

void crash_reporter_stop(int reporter)
{
    /* MSG_NOSIGNAL: if the child was killed, send fails without SIGPIPE. */
    send(reporter, "s", 1, MSG_NOSIGNAL);
}
