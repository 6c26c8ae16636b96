#include "comm/wait/startup_watchdog.h"

#include <stdio.h>

#include "kernels/base/clock.h"
#include "kernels/base/launcher.h"

static void describe(void *arg, char *text, size_t size)
{
    const struct startup_watchdog *s = arg;
    char ranks[256];
    bool found = launcher_name_stopped(ranks, sizeof ranks);
    snprintf(text, size, "rank %d: %s lasted longer than %g s; %s%s", launcher_rank(), s->operation,
             s->deadline_s, found ? "stopped: " : "no rank of this node is stopped",
             found ? ranks : "");
}

enum status startup_watchdog_begin(struct startup_watchdog *s, const char *operation,
                                   double deadline_s, struct error *e)
{
    *s = (struct startup_watchdog){.operation = operation, .deadline_s = deadline_s};
    if (deadline_s <= 0)
        return OK;
    TRY(watchdog_start(&s->watchdog, describe, s, &s->alive_ns, e));
    watchdog_arm(s->watchdog, clock_ns() + (int64_t)(deadline_s * 1e9));
    return OK;
}

void startup_watchdog_end(struct startup_watchdog *s)
{
    watchdog_stop(s->watchdog);
    s->watchdog = NULL;
}
