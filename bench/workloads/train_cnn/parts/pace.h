/* Lets time pass in place of computing, so that what follows happens when it would have.
 *
 * The rank sleeps until shortly before a deadline and offers its core for the rest (sched_yield), so
 * that a core serves whoever has something to do. How early it wakes, what a sleep is late by here, is
 * measured when it starts; nothing shorter can be slept: that much is passed by offering the core alone. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* The clock, and what passes time by it. */
struct pace_clock {
    int64_t (*now_ns)(void *arg);
    void (*sleep_until)(void *arg, int64_t ns);
    void (*offer_core)(void *arg); /* returns at once where nobody wants it */
    void *arg;
};

struct pace {
    struct pace_clock clock;
    int64_t margin_ns; /* that a sleep ends early by, so as not to end late */
    int64_t owed_ns;   /* that has not passed yet; below 0: that passed too much */
    int64_t late_ns;   /* what others could see has come late by, in this step */
    int64_t seen_ns;   /* of what passed too much, that part of late_ns already */
    /* Called while time passes, at most every `poll_ns`; NULL: never. */
    void (*poll)(void *arg);
    void *poll_arg;
    int64_t poll_ns;
};

/* By the clock of this machine. Measures the margin, which takes some milliseconds, and asks the kernel
 * not to put this thread's timers off. */
void pace_open(struct pace *p);

/* What was too much so far stays lost: others have waited for it. */
void pace_meet(struct pace *p);

/* The same, and nothing of the new step has come late yet. */
void pace_step_begin(struct pace *p);

/* Lets `ns` pass. Where nothing can be seen of when it ends, `exact` is false: then what is too short
 * to be slept is owed to the next call, and what is late may still be made up unseen. */
void pace_pass(struct pace *p, int64_t ns, bool exact);
