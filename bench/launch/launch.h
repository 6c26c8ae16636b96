/* Starting a program and being sure that nothing of it stays.
 *
 * Each launch has a guard: a process between runner and program that adopts every orphan below it
 * (PR_SET_CHILD_SUBREAPER) and holds one end of a socket, the lifeline, whose other end only the
 * runner holds. When the program ends, the time limit passes, or the lifeline closes because the
 * runner is gone, however it died, the guard kills and reaps whatever is left below it, whatever
 * sessions or process groups those made. Only then does it report. So it does where the program stays though a rank
 * has said its last word or what the program started has failed, or ranks do not start in time: hydra's mpiexec waits
 * for ever for a proxy that could not be started, could not call back or can start no rank.
 *
 * What a launch leaves on other machines, which no guard sees, a command of its own ends where the launch
 * has not ended in order; where the guard itself was killed launch_finish does what it would have done.
 *
 * The guard keeps the runner's open files, the lock on the journal among them: nobody can go on
 * with a campaign while processes of the last launch are still on its cores. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

#include "kernels/base/error.h"

struct launch_command {
    char *const *argv;        /* argv[0] is looked for on PATH when it has no '/' */
    char *const *environment; /* "KEY=value" to add; NULL-terminated or NULL */
    const char *log;          /* file for standard output and standard error */
    double limit_s;
    double start_limit_s; /* by which `ranks` files must be in `records`; 0: none */
    const char *records;  /* folder of the ranks' records */
    int ranks;
    bool is_ours; /* lines of its log that only our programs write mean what they mean there */
    char *const *cleanup; /* as site_launch's; it lives as long as the launch; NULL: nothing */
};

enum launch_cause {
    CAUSE_ENDED,      /* the program ended by itself */
    CAUSE_LIMIT,      /* the time limit passed */
    CAUSE_STOPPED,    /* launch_stop */
    CAUSE_ABANDONED,  /* the runner's end of the lifeline closed */
    CAUSE_NO_START,   /* some ranks had not started within start_limit_s */
    CAUSE_STAYED,     /* the launch had failed LAUNCH_STAY_S before, and the program did not end */
    CAUSE_GUARD_LOST, /* the guard itself was killed */
};

/* A program that ends by itself when a rank has failed does so in a fraction of this. */
enum { LAUNCH_STAY_S = 10 };

struct launch_outcome {
    enum launch_cause cause;
    int wait_status;    /* of the program, as waitpid gives it */
    int child_status;   /* CAUSE_STAYED: of what it had started; 0: a rank has told why */
    int started, ranks; /* CAUSE_NO_START: ranks that had started, of all */
    double wall_s;      /* exec to exit */
    double cpu_s;       /* of every process that the guard saw end, as what follows */
    double switches_voluntary, switches_involuntary, faults_minor, faults_major;
    bool gone; /* as SITE_CLEANUP_GONE: nothing of the same kind can run any more */
    double
        oom_kills; /* that its cgroup counted meanwhile, where a runner looks; 0: none, or unknown */
    int not_killed; /* processes that outlived SIGKILL (stuck in the kernel) */
};

static inline bool launch_ended_well(const struct launch_outcome *outcome)
{
    return outcome->cause == CAUSE_ENDED && outcome->wait_status == 0;
}

struct launch {
    pid_t guard;
    int lifeline;          /* readable once the guard says something */
    int64_t cleaning_ns;   /* when the guard began to clean up elsewhere; 0: it has not */
    bool told;             /* that it does */
    struct timespec begin; /* by the clock of file systems */
    char *const *cleanup;
};

/* Starts `command` under a guard. A program that cannot be executed ends with status 127 and says
 * why in its log. */
enum status launch_start(struct launch *launch, const struct launch_command *command,
                         struct error *e);

/* Asks for the end: SIGTERM to every process, SIGKILL a second later; at once when asked again. */
void launch_stop(const struct launch *launch);

/* Whether the outcome is there, of a launch whose lifeline is readable. */
bool launch_has_outcome(struct launch *launch);

/* Says once if ending what is left on other machines takes long. */
void launch_tell_cleaning(struct launch *launch);

/* Waits for the outcome and ends `launch`. */
struct launch_outcome launch_finish(struct launch *launch);

/* Runs a command that ends what launches have left elsewhere, and waits for it. NULL: nothing. True: as
 * SITE_CLEANUP_GONE. */
bool launch_clean(char *const *cleanup);

/* Inside bench/launch: the guard's life, in a process of its own. `log` is an open file. */
_Noreturn void guard_live(int lifeline, int log, const struct launch_command *command);
