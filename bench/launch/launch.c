#include "bench/launch/launch.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench/base/log.h"
#include "bench/place/leftovers.h"
#include "kernels/base/clock.h"

/* Longest time to wait until shared memory is released (in units of 0.1 s). Shared memory that is
 * still in use after this time belongs to another program. */
#define PATIENCE_TENTHS 50

/* time (s) after which cleaning up is reported to the user */
#define CLEANING_REPORTED_S 3

static enum status start_guard(struct launch *launch, int log, const struct launch_command *command,
                               struct error *e)
{
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
        return error_set(e, ERR_SYSTEM, "cannot start a launch: socketpair: %s", strerror(errno));
    pid_t guard = fork();
    if (guard == 0) {
        close(ends[0]);
        guard_live(ends[1], log, command);
    }
    int why = errno;
    close(ends[1]);
    if (guard < 0) {
        close(ends[0]);
        return error_set(e, ERR_SYSTEM, "cannot start a launch: fork: %s", strerror(why));
    }
    launch->guard = guard;
    launch->lifeline = ends[0];
    return OK;
}

enum status launch_start(struct launch *launch, const struct launch_command *command,
                         struct error *e)
{
    int log = open(command->log, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0666);
    if (log < 0)
        return error_at(e, ERR_SYSTEM, command->log, 0, 0, "%s", strerror(errno));
    *launch = (struct launch){.guard = -1, .lifeline = -1, .cleanup = command->cleanup};
    clock_gettime(CLOCK_REALTIME_COARSE, &launch->begin);
    enum status status = start_guard(launch, log, command, e);
    close(log);
    return status;
}

void launch_stop(const struct launch *launch)
{
    /* fails without harm if the guard has just ended */
    send(launch->lifeline, "s", 1, MSG_NOSIGNAL);
}

/* A message of one byte means that the guard begins to clean up; a longer message is the
 * outcome. */
bool launch_has_outcome(struct launch *launch)
{
    char word;
    if (recv(launch->lifeline, &word, 1, MSG_PEEK | MSG_TRUNC) != 1)
        return true;
    recv(launch->lifeline, &word, 1, 0);
    launch->cleaning_ns = clock_ns();
    return false;
}

void launch_report_cleaning(struct launch *launch)
{
    if (launch->cleaning_reported || launch->cleaning_ns == 0 ||
        clock_seconds_since(launch->cleaning_ns) < CLEANING_REPORTED_S)
        return;
    launch->cleaning_reported = true;
    log_print(LOG_WARNING,
              "stopping processes of this launch on other machines; this takes at most a minute");
}

/* Cleans up after the guard process and the launcher were killed. Removes shared memory repeatedly,
 * since the launcher's children may end later. Returns whether the site's cleanup reported that no
 * launch can run here. */
static bool clean_up(const struct launch *launch)
{
    int held = 1;
    bool gone = launch_clean(launch->cleanup);
    for (int tenths = 0; held > 0 && tenths < PATIENCE_TENTHS; tenths++) {
        nanosleep(&(struct timespec){.tv_nsec = 100000000}, NULL);
        held = leftovers_remove(launch->begin);
    }
    return gone;
}

struct launch_outcome launch_finish(struct launch *launch)
{
    struct launch_outcome outcome;
    ssize_t n;
    do
        n = recv(launch->lifeline, &outcome, sizeof outcome, 0);
    while (n == 1 || (n < 0 && errno == EINTR));
    if (n != (ssize_t)sizeof outcome)
        outcome = (struct launch_outcome){.cause = CAUSE_GUARD_LOST};
    close(launch->lifeline);
    while (waitpid(launch->guard, NULL, 0) < 0 && errno == EINTR)
        continue;
    if (outcome.cause == CAUSE_GUARD_LOST)
        outcome.gone = clean_up(launch);
    *launch = (struct launch){.guard = -1, .lifeline = -1};
    return outcome;
}
