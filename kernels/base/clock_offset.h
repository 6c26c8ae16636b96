/* Estimates the difference between the clocks of two hosts from messages in both directions. An
 * offset is the local clock minus the remote clock. Each estimate has an error bound that holds for
 * any asymmetry of the message times.
 *
 * The local host sends a message at time `sent`, by its own clock. The remote host reads the
 * message at `theirs`, by the remote clock. The answer arrives at `received`, by the local clock.
 * The offset then lies between sent - theirs and received - theirs (Cristian, Probabilistic clock
 * synchronization, 1989). Over many messages, the largest lower bound and the smallest upper bound
 * are used. These two bounds may come from different messages.
 *
 * Clocks drift. Between two moments, the offset is therefore modelled as a straight line over time.
 * Source: Hunold and Carpen-Amarie, On the impact of synchronizing clocks and processes on
 * benchmarking MPI collectives, 2015. */
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
 * at `begin` and `end`, plus an allowance for changes of the drift. If the offset changes faster
 * than clocks can drift (a clock was set), the bound also includes the part of this change that
 * drift cannot explain. */
double clock_line_error_ns(const struct clock_line *line);

/* Returns the drift in seconds per second, positive if the local clock is faster than the remote
 * clock. NAN unless `end` is later than `begin`. */
double clock_line_drift(const struct clock_line *line);
