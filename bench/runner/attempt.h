/* One attempt at a launch: start its processes in the launch's folder and wait until they have
 * ended. */
#pragma once

#include "bench/launch/launch.h"
#include "bench/runner/campaign.h"

struct attempt_limits {
    double expected_s; /* expected wall time of the launch (s); INFINITY: unknown */
    double limit_s;    /* wall time after which the launch is stopped (s) */
};

/* Starts the prepared command and waits for its end. Creates `folder` with command.txt and log.txt.
 * Measures load and speed of the ranks' processors before and after, and stores the results in
 * `l`. */
enum status attempt_run(struct campaign *c, const struct config *point,
                        const struct site_launch *prepared, const char *folder,
                        const struct attempt_limits *limits, struct launch_outcome *outcome,
                        struct journal_launch *l, struct error *e);

/* Waits for the end of a launch. The first Ctrl-C sends its processes SIGTERM, the second
 * SIGKILL. Also stops the launch if the journal can no longer be written. */
struct launch_outcome attempt_watch(struct campaign *c, struct launch *launch);

/* Writes why a launch failed, with the line of its log that explains it: "exit status 9:
 * train_cnn: rank 1 ...". */
void attempt_reason(char *text, size_t size, const struct campaign *c,
                    const struct launch_outcome *outcome, const char *log);
