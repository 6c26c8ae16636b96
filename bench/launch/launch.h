/* Starts a program and makes sure that none of its processes remains.
 *
 * Each launch has a guard: a process between runner and program that adopts every orphan below it
 * (PR_SET_CHILD_SUBREAPER). The guard and the runner each hold one end of a socket, the lifeline.
 * When the program ends or must be stopped (enum launch_cause), the guard kills every process below
 * it, in any session or process group. Then the guard reports to the runner. An mpiexec (hydra) can
 * hang if its proxy on a node fails: see CAUSE_NO_START and CAUSE_STAYED.
 *
 * A guard cannot see processes on other machines. If the launch failed, the guard runs a cleanup
 * command that ends them. If the guard itself was killed, launch_finish runs this command.
 *
 * The guard inherits the lock on the journal, so no runner can resume a campaign while processes of
 * its last launch still run. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

#include "kernels/base/error.h"

struct launch_command {
    char *const *argv;        /* program and arguments; argv[0] without '/' is looked up in PATH */
    char *const *environment; /* "KEY=value" to add to the environment, NULL-terminated; NULL:
                                 none */
    const char *log;          /* path of the file for standard output and standard error */
    double limit_s;
    double start_limit_s; /* time (s) within which each of the `ranks` ranks must have written a
                             file to `records`; 0: no limit */
    const char *records;  /* folder to which ranks write their records */
    int ranks;
    bool is_ours; /* whether the program belongs to this project; if so, its standard input stays
                     open, and a rank's error message in the log means that the launch failed */
    char *const
        *cleanup; /* command that ends the launch's processes on other machines (site_launch),
                     borrowed; NULL: none */
};

enum launch_cause {
    CAUSE_ENDED,      /* the program ended by itself */
    CAUSE_LIMIT,      /* the time limit passed */
    CAUSE_STOPPED,    /* launch_stop was called */
    CAUSE_ABANDONED,  /* the socket to the runner closed: the runner died */
    CAUSE_NO_START,   /* some ranks did not start within start_limit_s */
    CAUSE_STAYED,     /* the launch failed, but the program still ran LAUNCH_STAY_S seconds later
                         and was ended */
    CAUSE_GUARD_LOST, /* the guard itself was killed */
};

/* Time within which a launcher such as mpiexec should end after its launch has failed (s). Working
 * launchers need only a fraction of this time. */
enum { LAUNCH_STAY_S = 10 };

struct launch_outcome {
    enum launch_cause cause;
    int wait_status;    /* wait status of the program, as set by waitpid */
    int child_status;   /* wait status of the launcher's failed child if `cause` is CAUSE_STAYED
                           (the launch failed, but the program kept running); 0: a rank's final
                           message showed the failure */
    int started, ranks; /* CAUSE_NO_START: numbers of started ranks and of all ranks */
    double wall_s;      /* time from start to end of the program */
    double cpu_s;       /* processor time of all processes of the launch on this machine */
    /* context switches and page faults of the processes that cpu_s includes */
    double switches_voluntary, switches_involuntary, faults_minor, faults_major;
    bool gone;        /* whether cleanup reported that no launch can run here (SITE_CLEANUP_GONE) */
    double oom_kills; /* out-of-memory kills in the runner's cgroup during the launch; 0: none or
                         unknown */
    int not_killed;   /* number of processes that SIGKILL did not end (stuck in the kernel) */
};

static inline bool launch_ended_well(const struct launch_outcome *outcome)
{
    return outcome->cause == CAUSE_ENDED && outcome->wait_status == 0;
}

struct launch {
    pid_t guard;
    int lifeline;        /* socket to the guard, readable when the guard sends a message */
    int64_t cleaning_ns; /* time at which cleaning up of other machines began; 0: not begun */
    bool cleaning_reported;
    struct timespec begin; /* start of the launch, by the clock that time stamps of files use */
    char *const *cleanup;
};

/* Starts `command` as the child of a new guard process. If the program cannot be executed, the
 * launch ends with exit status 127 and a message in its log. */
enum status launch_start(struct launch *launch, const struct launch_command *command,
                         struct error *e);

/* Makes the guard send SIGTERM to all processes of the launch on this machine, and SIGKILL one
 * second later. A second call sends SIGKILL at once. */
void launch_stop(const struct launch *launch);

/* Looks at the message on launch->lifeline, the socket to the guard process. The socket must be
 * readable. Returns true if the launch has ended or the guard was killed; launch_finish then need
 * not wait for a message. Returns false if the cleanup of other machines has begun, and records the
 * time. */
bool launch_has_outcome(struct launch *launch);

/* Prints a warning, once per launch, if the cleanup of other machines has lasted a few seconds. */
void launch_report_cleaning(struct launch *launch);

/* Waits until the launch has ended. Returns its outcome and releases `launch`. */
struct launch_outcome launch_finish(struct launch *launch);

/* Runs a cleanup command and waits for it. Does nothing if `cleanup` is NULL. Returns whether the
 * command reported SITE_CLEANUP_GONE: no further launch can run here. */
bool launch_clean(char *const *cleanup);

/* Internal to bench/launch. Runs the guard until the launch has ended, then exits the guard's
 * process. `log`: descriptor of the open log. */
_Noreturn void guard_live(int lifeline, int log, const struct launch_command *command);
