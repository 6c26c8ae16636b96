/* Sleeps in place of work that replay does not compute.
 *
 * A sleep is set to end a margin before its deadline, since sleeps end late. If other ranks see the
 * end of the work, the rank then calls sched_yield until the deadline. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Clock and sleep functions; tests replace them. */
struct pace_clock {
    int64_t (*now_ns)(void *arg);
    void (*sleep_until)(void *arg, int64_t ns);
    /* calls sched_yield; returns at once if no other process is ready */
    void (*offer_core)(void *arg);
    void *arg;
};

struct pace {
    struct pace_clock clock;
    int64_t margin_ns; /* how long before a deadline a sleep is set to end, since sleeps end late */
    int64_t owed_ns;   /* time by which the last call ended early; negative: overrun */
    int64_t late_ns;   /* total lateness of this step's `exact` sleeps (pace_pass), the only sleeps
                          whose end other ranks see. Lateness that continues over several sleeps
                          counts once */
    int64_t seen_ns;   /* part of the current overrun that late_ns already includes */
    /* Called between sleeps, at least every poll_ns. NULL: sleeps are not interrupted. */
    void (*poll)(void *arg);
    void *poll_arg;
    int64_t poll_ns;
};

/* Initialises a pace with the machine's clock. Measures how late sleeps end (the margin), which
 * takes some ms, and sets this thread's timer slack to the minimum. */
void pace_open(struct pace *p);

/* Forgets the current overrun. Other ranks have already waited during the overrun, so later sleeps
 * must not be shortened by it. */
void pace_drop_overrun(struct pace *p);

/* Forgets the current overrun and resets late_ns. */
void pace_step_begin(struct pace *p);

/* Sleeps for `ns`. `exact`: end exactly on time, because other ranks see the end. Otherwise the
 * sleep may end early or late, and the next call compensates. */
void pace_pass(struct pace *p, int64_t ns, bool exact);
