/* The guard of a launch (launch.h): a fork of the runner, without exec. Guard and runner
 * communicate only through a socket, the lifeline. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench/base/interrupt.h"
#include "bench/launch/launch.h"
#include "bench/launch/log_tail.h"
#include "bench/launch/processes.h"
#include "bench/place/leftovers.h"
#include "bench/record/record.h"
#include "bench/sites/site.h"
#include "kernels/base/clock.h"

#define SECOND ((int64_t)1000000000)
/* time from SIGTERM to SIGKILL (ns) */
#define GRACE_NS SECOND
/* time after SIGKILL (ns) at which remaining processes (stuck in the kernel) are reported */
#define PATIENCE_NS (20 * SECOND)
#define CANNOT_RUN  127

struct guard {
    int lifeline; /* socket to the runner; -1: the runner has ended */
    int children; /* signalfd, readable when a child process changes state */
    pid_t program;
    int64_t begin;
    struct timespec begin_date;
    bool ended;            /* whether the program has ended and was waited for */
    struct log_reader log; /* log of the program; log.path is NULL for a user's program, whose log
                              the guard does not read */
    bool started;          /* whether all ranks have started, or no start limit applies */
    int64_t failed;        /* time (ns) at which the guard saw the launch fail; 0: not failed */
    struct launch_outcome outcome;
};

/* Blocks all signals in the guard, because the runner handles Ctrl-C and a batch system's SIGTERM.
 * Returns a signalfd for SIGCHLD. */
static int block_signals(void)
{
    sigset_t all, child;
    signal(SIGCHLD, SIG_DFL); /* waitpid fails if an ancestor has set SIGCHLD to be ignored */
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, NULL);
    sigemptyset(&child);
    sigaddset(&child, SIGCHLD);
    return signalfd(-1, &child, SFD_NONBLOCK | SFD_CLOEXEC);
}

/* Returns a descriptor for the program's standard input. A user's program gets /dev/null, since it
 * may read to end of file. A program of this project gets an empty pipe that stays open. At end of
 * file, MPICH's hydra could die of SIGPIPE and lose the ranks' output. */
static int open_input(bool is_ours)
{
    int ends[2];
    if (is_ours && pipe2(ends, O_CLOEXEC) == 0)
        return ends[0];
    return open("/dev/null", O_RDONLY | O_CLOEXEC);
}

/* Redirects input and output, so that the guard keeps neither the terminal nor a pipe of the runner
 * open. */
static void redirect(int input, int log)
{
    dup2(input, STDIN_FILENO);
    dup2(log, STDOUT_FILENO);
    dup2(log, STDERR_FILENO);
}

bool launch_clean(char *const *cleanup)
{
    int status = 0;
    pid_t pid = cleanup != NULL ? fork() : -1;
    if (pid == 0) {
        interrupt_forget();
        execvp(cleanup[0], cleanup);
        _exit(CANNOT_RUN);
    }
    while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
        continue;
    return pid > 0 && WIFEXITED(status) && WEXITSTATUS(status) == SITE_CLEANUP_GONE;
}

static _Noreturn void become_program(const struct launch_command *command, pid_t guard)
{
    setsid();
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != guard)
        _exit(CANNOT_RUN); /* the guard ended before prctl, so no signal will come */
    interrupt_forget();
    for (char *const *entry = command->environment; entry != NULL && *entry != NULL; entry++)
        putenv(*entry);
    execvp(command->argv[0], command->argv);
    dprintf(STDERR_FILENO, "cannot run %s: %s\n", command->argv[0], strerror(errno));
    _exit(CANNOT_RUN);
}

static void start_program(struct guard *g, const struct launch_command *command)
{
    pid_t guard = getpid();
    g->begin = clock_ns();
    clock_gettime(CLOCK_REALTIME_COARSE, &g->begin_date); /* same clock as time stamps of files */
    g->program = fork();
    if (g->program == 0)
        become_program(command, guard);
    if (g->program < 0) {
        dprintf(STDERR_FILENO, "fork: %s\n", strerror(errno));
        g->ended = true;
        g->outcome.wait_status = CANNOT_RUN << 8;
    }
}

/* Reaps children that have ended, without blocking. Returns whether any child is left. Orphans of
 * the launch become children of the guard, so false means that the whole launch has ended. */
static bool reap(struct guard *g)
{
    pid_t pid;
    int status;
    while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
        if (pid != g->program)
            continue;
        g->ended = true;
        g->outcome.wait_status = status;
        g->outcome.wall_s = (double)(clock_ns() - g->begin) * 1e-9;
    }
    return pid == 0;
}

enum news { NEWS_NONE, NEWS_STOP, NEWS_RUNNER_GONE };

/* Sleeps until a child changes state, the runner asks to stop or ends, or the clock reaches `until`
 * (ns); at most a minute. Returns whether the runner asked to stop, ended, or did neither. */
static enum news wait_for_news(struct guard *g, int64_t until)
{
    int64_t left_ms = (until - clock_ns()) / 1000000 + 1;
    if (left_ms < 0)
        left_ms = 0;
    struct pollfd fds[2] = {{.fd = g->children, .events = POLLIN},
                            {.fd = g->lifeline, .events = POLLIN}};
    poll(fds, 2, left_ms > 60000 ? 60000 : (int)left_ms);
    struct signalfd_siginfo info;
    while (read(g->children, &info, sizeof info) > 0)
        continue;
    if (g->lifeline < 0 || fds[1].revents == 0)
        return NEWS_NONE;
    char word;
    if (recv(g->lifeline, &word, 1, 0) == 1)
        return NEWS_STOP;
    g->lifeline = -1;
    return NEWS_RUNNER_GONE;
}

/* Returns whether the program still runs LAUNCH_STAY_S seconds after its launch has failed. */
static bool stays(struct guard *g, int64_t now)
{
    if (g->failed == 0) {
        bool failed = g->log.path != NULL && log_has_last_word(&g->log);
        g->outcome.child_status = failed ? 0 : processes_failed_child(g->program);
        g->failed = failed || g->outcome.child_status != 0 ? now : 0;
    }
    return g->failed != 0 && now - g->failed >= LAUNCH_STAY_S * SECOND;
}

/* Returns whether some ranks have not started by the start limit. Checks only once, so as not to
 * disturb the measurement. */
static bool lacks_ranks(struct guard *g, const struct launch_command *command, int64_t now)
{
    if (g->started || now < g->begin + (int64_t)(command->start_limit_s * 1e9))
        return false;
    g->outcome.started = recorder_count(command->records, command->ranks);
    g->outcome.ranks = command->ranks;
    g->started = g->outcome.started == command->ranks;
    return !g->started;
}

/* Returns the reason to stop the launch now; CAUSE_ENDED: no reason, the launch continues. */
static enum launch_cause end_of(struct guard *g, const struct launch_command *command, int64_t now,
                                int64_t limit)
{
    if (now >= limit)
        return CAUSE_LIMIT;
    if (stays(g, now))
        return CAUSE_STAYED;
    return lacks_ranks(g, command, now) ? CAUSE_NO_START : CAUSE_ENDED;
}

static enum launch_cause cause_of(enum news news)
{
    return news == NEWS_NONE ? CAUSE_ENDED : news == NEWS_STOP ? CAUSE_STOPPED : CAUSE_ABANDONED;
}

static void watch(struct guard *g, const struct launch_command *command)
{
    int64_t limit = g->begin + (int64_t)(command->limit_s * 1e9);
    g->started = command->start_limit_s == 0;
    while (g->outcome.cause == CAUSE_ENDED) {
        reap(g);
        if (g->ended)
            return;
        int64_t now = clock_ns();
        g->outcome.cause = end_of(g, command, now, limit);
        if (g->outcome.cause == CAUSE_ENDED)
            g->outcome.cause =
                cause_of(wait_for_news(g, now + SECOND < limit ? now + SECOND : limit));
    }
}

/* Ends all descendants of the guard and waits for them. Sends SIGTERM before SIGKILL, unless the
 * program ended or the runner died. Gives up PATIENCE_NS after SIGKILL; outcome.not_killed then
 * counts the remaining processes. */
static void sweep(struct guard *g)
{
    bool gently = g->outcome.cause == CAUSE_LIMIT || g->outcome.cause == CAUSE_STOPPED ||
                  g->outcome.cause == CAUSE_NO_START || g->outcome.cause == CAUSE_STAYED;
    int64_t kill_at = clock_ns() + (gently ? GRACE_NS : 0);
    int64_t give_up = kill_at + PATIENCE_NS;
    if (gently)
        processes_signal_below(getpid(), SIGTERM);
    while (reap(g)) {
        int64_t now = clock_ns();
        if (now >= give_up) {
            g->outcome.not_killed = processes_signal_below(getpid(), SIGKILL);
            return;
        }
        /* SIGKILL is sent in every pass, because a process can fork while the process table is
         * read, and its child then gets no signal. */
        if (now >= kill_at)
            processes_signal_below(getpid(), SIGKILL);
        if (wait_for_news(g, now + SECOND / 50) != NEWS_NONE)
            kill_at = now;
    }
}

static double seconds_of(struct timeval t)
{
    return (double)t.tv_sec + 1e-6 * (double)t.tv_usec;
}

static void take_usage(struct launch_outcome *outcome)
{
    struct rusage usage = {0};
    getrusage(RUSAGE_CHILDREN, &usage);
    outcome->cpu_s = seconds_of(usage.ru_utime) + seconds_of(usage.ru_stime);
    outcome->switches_voluntary = (double)usage.ru_nvcsw;
    outcome->switches_involuntary = (double)usage.ru_nivcsw;
    outcome->faults_minor = (double)usage.ru_minflt;
    outcome->faults_major = (double)usage.ru_majflt;
}

_Noreturn void guard_live(int lifeline, int log, const struct launch_command *command)
{
    struct guard g = {.lifeline = lifeline, .log.path = command->is_ours ? command->log : NULL};
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    g.children = block_signals();
    redirect(open_input(command->is_ours), log);
    start_program(&g, command);
    watch(&g, command);
    sweep(&g);
    if (!launch_ended_well(&g.outcome)) {
        if (command->cleanup != NULL)
            send(lifeline, "c", 1, MSG_NOSIGNAL);
        g.outcome.gone = launch_clean(command->cleanup);
        leftovers_remove(g.begin_date);
    }
    if (!g.ended)
        g.outcome.wall_s = (double)(clock_ns() - g.begin) * 1e-9;
    take_usage(&g.outcome);
    send(lifeline, &g.outcome, sizeof g.outcome, MSG_NOSIGNAL);
    _exit(0);
}
