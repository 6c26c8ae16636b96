/* Sleeps for the time of work that is not computed, so that later events happen when they would
 * have.
 *
 * The rank sleeps until shortly before a deadline, then calls sched_yield until it is reached. The
 * margin is the lateness of sleeps, measured at the start. Times shorter than the margin are passed
 * by sched_yield alone. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Clock and sleep functions; tests replace them. */
struct pace_clock {
    int64_t (*now_ns)(void *arg);
    void (*sleep_until)(void *arg, int64_t ns);
    void (*offer_core)(void *arg); /* yields; returns at once if no other process is ready */
    void *arg;
};

struct pace {
    struct pace_clock clock;
    int64_t margin_ns; /* time by which a sleep ends early, so as not to be late */
    int64_t owed_ns;   /* time still to sleep; negative: overrun */
    int64_t late_ns;   /* overrun in this step that other ranks could see */
    int64_t seen_ns;   /* current overrun already counted in late_ns */
    /* Called while sleeping, every `poll_ns` at most; NULL: never. */
    void (*poll)(void *arg);
    void *poll_arg;
    int64_t poll_ns;
};

/* Opens a pace on this machine's clock. Measures the margin (some ms) and sets this thread's timer
 * slack to the minimum. */
void pace_open(struct pace *p);

/* Drops the current overrun: other ranks have waited for it, so it cannot be made up. */
void pace_drop_overrun(struct pace *p);

/* Drops the current overrun and resets late_ns. */
void pace_step_begin(struct pace *p);

/* Sleeps for `ns`. exact = false if no other rank can see the end: the rest is then owed to the
 * next call, and an overrun can still be made up. */
void pace_pass(struct pace *p, int64_t ns, bool exact);
