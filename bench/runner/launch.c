#include "bench/runner/launch.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

static enum status start_guard(struct launch *launch, int log, const struct launch_command *command,
                               struct error *e)
{
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
        return error_set(e, ERR_SYSTEM, "socketpair: %s", strerror(errno));
    pid_t guard = fork();
    if (guard == 0) {
        close(ends[0]);
        guard_live(ends[1], log, command);
    }
    int why = errno;
    close(ends[1]);
    if (guard < 0) {
        close(ends[0]);
        return error_set(e, ERR_SYSTEM, "fork: %s", strerror(why));
    }
    *launch = (struct launch){.guard = guard, .lifeline = ends[0], .cleanup = command->cleanup};
    return OK;
}

enum status launch_start(struct launch *launch, const struct launch_command *command,
                         struct error *e)
{
    int log = open(command->log, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0666);
    if (log < 0)
        return error_at(e, ERR_SYSTEM, command->log, 0, 0, "%s", strerror(errno));
    enum status status = start_guard(launch, log, command, e);
    close(log);
    return status;
}

void launch_stop(const struct launch *launch)
{
    /* A guard that has just ended cannot be asked, and need not be. */
    send(launch->lifeline, "s", 1, MSG_NOSIGNAL);
}

struct launch_outcome launch_finish(struct launch *launch)
{
    struct launch_outcome outcome;
    ssize_t n;
    do
        n = recv(launch->lifeline, &outcome, sizeof outcome, 0);
    while (n < 0 && errno == EINTR);
    if (n != (ssize_t)sizeof outcome)
        outcome = (struct launch_outcome){.cause = CAUSE_GUARD_LOST};
    close(launch->lifeline);
    while (waitpid(launch->guard, NULL, 0) < 0 && errno == EINTR)
        continue;
    if (outcome.cause == CAUSE_GUARD_LOST)
        launch_clean(launch->cleanup);
    *launch = (struct launch){.guard = -1, .lifeline = -1};
    return outcome;
}
