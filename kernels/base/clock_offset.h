/* Estimates the difference between the clocks of two hosts, local minus remote, from messages in
 * both directions. The error bound holds for any asymmetry of the message times.
 *
 * The local host sends a message at `sent`, the remote host reads it at `theirs`, and the answer
 * arrives at `received`. The offset then lies between sent - theirs and received - theirs
 * (Cristian, Probabilistic clock synchronization, 1989). The largest lower bound and the smallest
 * upper bound of all messages are used.
 *
 * Clocks drift. The offset between two moments is therefore modelled as a straight line (Hunold and
 * Carpen-Amarie, On the impact of synchronizing clocks and processes on benchmarking MPI
 * collectives, 2015). */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct ping {
    int64_t sent_ns, received_ns; /* times of sending the ping and receiving its answer, by the
                                   * local clock */
    int64_t theirs_ns;            /* time when the remote host read the ping, by the remote clock */
};

struct clock_offset {
    int64_t at_ns;    /* time of the estimate, by the local clock */
    double offset_ns; /* local minus remote clock; NAN: unknown */
    double error_ns;  /* bound on the error of offset_ns */
};

/* Estimates the offset from n > 0 pings, for the time midway through the shortest round trip. */
struct clock_offset clock_offset_find(const struct ping *pings, size_t n);

/* Adds two offsets. Returns local minus third clock, given `second` = local minus second clock and
 * `third` = second minus third clock. */
struct clock_offset clock_offset_chain(const struct clock_offset *second,
                                       const struct clock_offset *third);

/* Straight line over time through the clock offsets at two moments, `begin` and `end`; extrapolated
 * before `begin` and after `end`. */
struct clock_line {
    struct clock_offset begin, end;
};

/* Returns the offset at local time `t_ns`. If `end` is not later than `begin`, returns the offset
 * at `begin`. */
double clock_line_offset_ns(const struct clock_line *line, int64_t t_ns);

/* Returns a bound on the error of all offsets between `begin` and `end`: the larger of the errors
 * at `begin` and at `end`, plus an allowance for changes of the drift. If the offset changes faster
 * than clocks can drift, as when a clock was set, adds the excess. */
double clock_line_error_ns(const struct clock_line *line);

/* Returns the drift in seconds per second, positive if the local clock is faster than the remote
 * clock. NAN unless `end` is later than `begin`. */
double clock_line_drift(const struct clock_line *line);
