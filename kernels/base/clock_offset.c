#include "kernels/base/clock_offset.h"

#include <math.h>

/* Largest drift expected between two clocks, in seconds per second. Each oscillator is off by at
 * most about 50 ppm. */
#define DRIFT_USUAL 1e-4
/* Largest plausible drift, in seconds per second. It exceeds an oscillator's error plus NTP's
 * slewing (500 ppm). */
#define DRIFT_MOST 1e-3
/* Largest deviation of the drift from its mean during a run, in seconds per second. Causes are
 * temperature and NTP. */
#define DRIFT_CHANGE 1e-6

struct bounds {
    double lower_ns, upper_ns;
};

static int64_t round_trip_ns(const struct ping *p)
{
    return p->received_ns - p->sent_ns;
}

static int64_t middle_ns(const struct ping *p)
{
    return p->sent_ns + round_trip_ns(p) / 2;
}

/* Returns the bounds that one ping sets on the offset at time at_ns. The bounds are widened by the
 * largest expected drift (DRIFT_USUAL) between the ping and at_ns. */
static struct bounds bounds_at(const struct ping *p, int64_t at_ns)
{
    double away_ns = fabs((double)(middle_ns(p) - at_ns)) + (double)round_trip_ns(p) / 2;
    return (struct bounds){(double)(p->sent_ns - p->theirs_ns) - DRIFT_USUAL * away_ns,
                           (double)(p->received_ns - p->theirs_ns) + DRIFT_USUAL * away_ns};
}

/* Combines the bounds of all pings. If pings contradict each other because a clock was set between
 * them, uses only the ping with the shortest round trip. */
struct clock_offset clock_offset_find(const struct ping *pings, size_t n)
{
    const struct ping *soonest = pings;
    for (size_t i = 1; i < n; i++)
        if (round_trip_ns(&pings[i]) < round_trip_ns(soonest))
            soonest = &pings[i];
    int64_t at_ns = middle_ns(soonest);
    struct bounds own = bounds_at(soonest, at_ns), all = own;
    for (size_t i = 0; i < n; i++) {
        struct bounds b = bounds_at(&pings[i], at_ns);
        all.lower_ns = fmax(all.lower_ns, b.lower_ns);
        all.upper_ns = fmin(all.upper_ns, b.upper_ns);
    }
    if (all.lower_ns > all.upper_ns)
        all = own;
    return (struct clock_offset){.at_ns = at_ns,
                                 .offset_ns = all.lower_ns + (all.upper_ns - all.lower_ns) / 2,
                                 .error_ns = (all.upper_ns - all.lower_ns) / 2};
}

struct clock_offset clock_offset_chain(const struct clock_offset *second,
                                       const struct clock_offset *third)
{
    double between_ns = (double)second->at_ns - second->offset_ns - (double)third->at_ns;
    return (struct clock_offset){.at_ns = second->at_ns,
                                 .offset_ns = second->offset_ns + third->offset_ns,
                                 .error_ns = second->error_ns + third->error_ns +
                                             DRIFT_USUAL * fabs(between_ns)};
}

static double span_ns(const struct clock_line *line)
{
    return (double)line->end.at_ns - (double)line->begin.at_ns;
}

double clock_line_drift(const struct clock_line *line)
{
    double span = span_ns(line);
    return span > 0 ? (line->end.offset_ns - line->begin.offset_ns) / span : NAN;
}

double clock_line_offset_ns(const struct clock_line *line, int64_t t_ns)
{
    if (!(span_ns(line) > 0))
        return line->begin.offset_ns;
    double since_ns = (double)t_ns - (double)line->begin.at_ns;
    return line->begin.offset_ns + clock_line_drift(line) * since_ns;
}

double clock_line_error_ns(const struct clock_line *line)
{
    double span = fmax(0, span_ns(line));
    double apart_ns = fabs(line->end.offset_ns - line->begin.offset_ns);
    return fmax(line->begin.error_ns, line->end.error_ns) + DRIFT_CHANGE * span / 2 +
           fmax(0, apart_ns - DRIFT_MOST * span);
}
