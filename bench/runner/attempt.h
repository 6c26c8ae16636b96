/* One attempt at a launch: start its processes in the launch's folder and wait until they have
 * ended. */
#pragma once

#include "bench/launch/launch.h"
#include "bench/runner/campaign.h"

enum { AFTER_BYTES = 200 };

/* Launch that is being run, with its result. */
struct execution {
    struct campaign *c;
    const struct next_launch *next;
    const struct point *point;
    const char *folder;            /* folder of the launch's records */
    double expected_s;             /* expected wall time (s); INFINITY: unknown */
    struct launch_outcome outcome; /* outcome of the last attempt */
    char after[AFTER_BYTES];       /* text to append to the reason of a failure; "": none */
    struct journal_launch l;
};

/* Starts the prepared command of a point and waits for its end, at most limit_s (s). Creates the
 * launch's folder with command.txt and log.txt. Stores load and speed of the ranks' processors,
 * before and after, in x->l. */
enum status attempt_run(struct execution *x, const struct config *point,
                        const struct site_launch *prepared, double limit_s, struct error *e);

/* Waits for the end of a launch and returns its outcome. The first Ctrl-C sends the launch SIGTERM
 * and, one second later, SIGKILL; the second Ctrl-C sends SIGKILL at once. Also stops the launch if
 * the journal can no longer be written. */
struct launch_outcome attempt_watch(struct campaign *c, struct launch *launch);

/* Writes the reason why a launch failed, with the log line that explains the failure: "exit status
 * 9: train_cnn: rank 1 ...". */
void attempt_reason(char *text, size_t size, const struct campaign *c,
                    const struct launch_outcome *outcome, const char *log);
