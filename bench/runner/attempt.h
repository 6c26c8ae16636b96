/* Ranks that are started once: from the folder of a launch with its command line to the end that the guard
 * tells. */
#pragma once

#include "bench/launch/launch.h"
#include "bench/runner/campaign.h"

struct attempt_limits {
    double expected_s; /* what it will take, or INFINITY */
    double limit_s;    /* after which it is ended */
};

/* Makes the folder with command.txt, starts what was prepared for a point of the campaign or one of its segments with
 * its output in log.txt, and waits; looks at the processors of its plan before and after, for `l`. */
enum status attempt_run(struct campaign *c, const struct config *point,
                        const struct site_launch *prepared, const char *folder,
                        const struct attempt_limits *limits, struct launch_outcome *outcome,
                        struct journal_launch *l, struct error *e);

/* Waits for the end of a launch, passing on Ctrl-C: once for SIGTERM, twice for SIGKILL. One whose
 * results have nowhere to go is stopped. */
struct launch_outcome attempt_watch(struct campaign *c, struct launch *launch);

/* "exit status 9: train_cnn: rank 1 ...": why a launch did not end well, with the line of its log that explains it. */
void attempt_reason(char *text, size_t size, const struct campaign *c,
                    const struct launch_outcome *outcome, const char *log);
