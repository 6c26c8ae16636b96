/* Starts a program and makes sure that none of its processes remains.
 *
 * Each launch has a guard: a process between runner and program that adopts every orphan below it
 * (PR_SET_CHILD_SUBREAPER). The guard and the runner each hold one end of a socket, the lifeline.
 * The guard acts when the program ends, the time limit passes, or the lifeline closes because the
 * runner died. It then kills and reaps everything below it, in any session or process group, and
 * reports only after that. It also acts if ranks do not start in time, or if the program stays
 * after a rank's last message or the failure of one of its processes. Otherwise hydra's mpiexec
 * would wait for ever for a proxy that cannot start, call back or start ranks.
 *
 * A guard cannot see processes on other machines. A cleanup command ends them if the launch did not
 * end well. If the guard itself was killed, launch_finish runs that command.
 *
 * The guard inherits the runner's open files, including the lock on the journal. So no runner
 * can resume a campaign while processes of its last launch still run. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

#include "kernels/base/error.h"

struct launch_command {
    char *const *argv;        /* argv[0] is searched on PATH if it has no '/' */
    char *const *environment; /* "KEY=value" to add, NULL-terminated; or NULL */
    const char *log;          /* file for standard output and standard error */
    double limit_s;
    double start_limit_s; /* time by which `records` must hold `ranks` files; 0: no limit */
    const char *records;  /* folder of the ranks' records */
    int ranks;
    bool is_ours; /* one of our programs, whose last messages in the log can be trusted */
    char *const
        *cleanup; /* cleanup command of the site (site_launch), kept by the caller; NULL: none */
};

enum launch_cause {
    CAUSE_ENDED,      /* the program ended by itself */
    CAUSE_LIMIT,      /* the time limit passed */
    CAUSE_STOPPED,    /* launch_stop was called */
    CAUSE_ABANDONED,  /* the runner's end of the lifeline closed */
    CAUSE_NO_START,   /* some ranks had not started within start_limit_s */
    CAUSE_STAYED,     /* the program did not end within LAUNCH_STAY_S of the failure */
    CAUSE_GUARD_LOST, /* the guard itself was killed */
};

/* Time within which a launcher should end after a failure (s). Working launchers need a fraction
 * of it. */
enum { LAUNCH_STAY_S = 10 };

struct launch_outcome {
    enum launch_cause cause;
    int wait_status; /* wait status of the program, from waitpid */
    int child_status; /* CAUSE_STAYED: status of a failed child; 0: the log has a rank's last message */
    int started, ranks; /* CAUSE_NO_START: ranks that started, of all ranks */
    double wall_s;      /* time from exec to exit */
    double cpu_s;       /* processor time of all processes that the guard saw end */
    /* Context switches and page faults of the same processes. */
    double switches_voluntary, switches_involuntary, faults_minor, faults_major;
    bool gone;        /* no further launch of this kind can run (SITE_CLEANUP_GONE) */
    double oom_kills; /* out-of-memory kills in the runner's cgroup; 0: none or unknown */
    int not_killed;   /* processes that outlived SIGKILL (stuck in the kernel) */
};

static inline bool launch_ended_well(const struct launch_outcome *outcome)
{
    return outcome->cause == CAUSE_ENDED && outcome->wait_status == 0;
}

struct launch {
    pid_t guard;
    int lifeline;        /* readable when the guard sends a message */
    int64_t cleaning_ns; /* time at which the guard began to clean up elsewhere; 0: not yet */
    bool cleaning_reported;
    struct timespec begin; /* start, by the clock that file systems use for time stamps */
    char *const *cleanup;
};

/* Starts `command` under a guard. If the program cannot be executed, it ends with status 127 and
 * a message in its log. */
enum status launch_start(struct launch *launch, const struct launch_command *command,
                         struct error *e);

/* Sends SIGTERM to every process, SIGKILL one second later. A second call sends SIGKILL at once. */
void launch_stop(const struct launch *launch);

/* Returns whether the outcome is available. Call it when the lifeline is readable. */
bool launch_has_outcome(struct launch *launch);

/* Prints a note, once, if cleaning on other machines takes long. */
void launch_report_cleaning(struct launch *launch);

/* Waits for the outcome and ends `launch`. */
struct launch_outcome launch_finish(struct launch *launch);

/* Runs a cleanup command and waits for it; NULL: does nothing. Returns true on
 * SITE_CLEANUP_GONE. */
bool launch_clean(char *const *cleanup);

/* Internal to bench/launch. Runs the guard in its own process; `log` is an open file. */
_Noreturn void guard_live(int lifeline, int log, const struct launch_command *command);
