/* How far this host's clock is from another one's. An offset is this clock less the other; what comes
 * of it holds within its error however unevenly messages take their time there and back.
 *
 * A message that left here at `sent` was read there at `theirs`, and the answer to it here at
 * `received`: then the offset is at least sent - theirs and at most received - theirs (Cristian,
 * Probabilistic clock synchronization, 1989). Of many messages the largest lower bound and the
 * smallest upper one stay, so that the quickest way there and the quickest way back count, also where
 * no message was quick both ways. Between two moments the offset is a straight line, since clocks
 * drift (Hunold and Carpen-Amarie, On the impact of synchronizing clocks and processes on
 * benchmarking MPI collectives, 2015). */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct ping {
    int64_t sent_ns, received_ns; /* here */
    int64_t theirs_ns;            /* there */
};

struct clock_offset {
    int64_t at_ns;    /* when, on this clock */
    double offset_ns; /* NAN: unknown */
    double error_ns;  /* the true one is within so much of it */
};

/* From n > 0 pings, at the middle of the one that was back soonest. */
struct clock_offset clock_offset_find(const struct ping *pings, size_t n);

/* This clock less a third one, of this one less a second and the second less the third. */
struct clock_offset clock_offset_chain(const struct clock_offset *second,
                                       const struct clock_offset *third);

/* The offset between two moments, and beyond them. */
struct clock_line {
    struct clock_offset begin, end;
};

/* At `t_ns` of this clock. */
double clock_line_offset_ns(const struct clock_line *line, int64_t t_ns);

/* How far any offset between the two moments may be off: as far as those at the ends, and by what a
 * drift that changes in between adds. A line that is steeper than clocks drift is off by all that is
 * too much: a clock was set. */
double clock_line_error_ns(const struct clock_line *line);

/* Seconds in a second that this clock gains on the other; NAN where the line is a point. */
double clock_line_drift(const struct clock_line *line);
