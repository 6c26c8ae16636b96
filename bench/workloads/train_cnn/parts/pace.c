#include "bench/workloads/train_cnn/parts/pace.h"

#include <errno.h>
#include <math.h>
#include <sched.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <time.h>

#include "kernels/base/clock.h"
#include "kernels/base/stats.h"

/* ---- This machine's clock ---- */

static int64_t now_ns(void *arg)
{
    return clock_ns();
}

static void sleep_until(void *arg, int64_t ns)
{
    const struct timespec until = {.tv_sec = (time_t)(ns / 1000000000),
                                   .tv_nsec = (long)(ns % 1000000000)};
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) == EINTR)
        continue;
}

static void offer_core(void *arg)
{
    sched_yield();
}

/* PROBES: number of sleeps that measure how late sleeps end. PROBE_NS: length of each sleep (ns),
 * close to the time of an op, since waking takes longer after a longer sleep. */
enum { PROBES = 20, PROBE_NS = 1000000 };

/* Bounds of the margin (ns) by which sleeps are set to end before their deadline. The upper bound
 * limits the busy-waiting until the deadline if probe sleeps end very late. */
enum { MARGIN_LEAST_NS = 5000, MARGIN_MOST_NS = 200000 };

/* Returns the margin (ns): the 90th percentile of the lateness of PROBES sleeps, clamped to
 * [MARGIN_LEAST_NS, MARGIN_MOST_NS]. */
static int64_t measure_margin(const struct pace_clock *clock)
{
    double late_ns[PROBES];
    for (int i = 0; i < PROBES; i++) {
        int64_t until_ns = clock->now_ns(clock->arg) + PROBE_NS;
        clock->sleep_until(clock->arg, until_ns);
        late_ns[i] = (double)(clock->now_ns(clock->arg) - until_ns);
    }
    double margin_ns = stats_quantile(late_ns, PROBES, 0.9 * PROBES / (PROBES - 1));
    return llround(fmin(fmax(margin_ns, MARGIN_LEAST_NS), MARGIN_MOST_NS));
}

void pace_open(struct pace *p)
{
    *p = (struct pace){.clock = {now_ns, sleep_until, offer_core, NULL}};
    prctl(PR_SET_TIMERSLACK, 1UL);
    p->margin_ns = measure_margin(&p->clock);
}

/* ---- Passing time ---- */

void pace_drop_overrun(struct pace *p)
{
    if (p->owed_ns < 0)
        p->owed_ns = 0;
    p->seen_ns = 0;
}

void pace_step_begin(struct pace *p)
{
    pace_drop_overrun(p);
    p->late_ns = 0;
}

/* Returns the time at which the next sleep ends: until_ns, or the time of the next poll if that is
 * earlier. */
static int64_t next_stop(const struct pace *p, int64_t now, int64_t until_ns)
{
    int64_t poll_at = now + p->poll_ns;
    return p->poll != NULL && poll_at < until_ns ? poll_at : until_ns;
}

static int64_t look(struct pace *p)
{
    if (p->poll != NULL)
        p->poll(p->poll_arg);
    return p->clock.now_ns(p->clock.arg);
}

/* Sleeps until margin_ns before `due_ns`, with polls in between. Returns the time afterwards. */
static int64_t sleep_before(struct pace *p, int64_t now, int64_t due_ns)
{
    int64_t until_ns = due_ns - p->margin_ns;
    while (now < until_ns) {
        p->clock.sleep_until(p->clock.arg, next_stop(p, now, until_ns));
        now = look(p);
    }
    return now;
}

/* Adds the current overrun (lateness of replay's sleeps) to late_ns if other ranks notice it
 * (`seen`). An overrun that continues over several calls counts only once. */
static void count_late(struct pace *p, bool seen)
{
    int64_t late_ns = p->owed_ns < 0 ? -p->owed_ns : 0;
    if (seen && late_ns > p->seen_ns)
        p->late_ns += late_ns - p->seen_ns;
    if (seen || late_ns < p->seen_ns)
        p->seen_ns = late_ns;
}

void pace_pass(struct pace *p, int64_t ns, bool exact)
{
    int64_t now = p->clock.now_ns(p->clock.arg), due_ns = now + p->owed_ns + ns;
    now = sleep_before(p, now, due_ns);
    while (exact && now < due_ns) {
        p->clock.offer_core(p->clock.arg);
        now = p->clock.now_ns(p->clock.arg);
    }
    p->owed_ns = due_ns - now;
    count_late(p, exact);
}
