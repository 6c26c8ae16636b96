/* Decides the number of launches of each point from the widths of its confidence intervals. */
#include <math.h>

#include "bench/order/launch_points.h"

static size_t most_launches(const struct launch_points *l)
{
    return (size_t)l->spec->config.values[OPT_TIME_LAUNCHES].number_hi;
}

size_t launch_points_sure(const struct launch_points *l)
{
    size_t least = (size_t)config_number(&l->spec->config, OPT_TIME_LAUNCHES),
           most = most_launches(l);
    size_t looked = most < 2 * TIMING_LOOK ? most : 2 * TIMING_LOOK;
    return least > looked ? least : looked;
}

void launch_points_make_stale(struct launch_points *l, size_t point)
{
    if (l->points[point].stale)
        return;
    l->points[point].stale = true;
    l->stale[(l->first_stale + l->n_stale++) % l->spec->n_points] = point;
}

static size_t progress_of(const struct launch_points *l, size_t point)
{
    const struct point_launches *p = &l->points[point];
    size_t n = p->n_timings;
    for (size_t k = 0; k < p->n_comparisons; k++)
        if (!launch_points_is_out(l, p->comparisons[k].with) && p->comparisons[k].pairs < n)
            n = p->comparisons[k].pairs;
    return n;
}

static struct timings timings_of(const struct launch_points *l, size_t point)
{
    const struct point_launches *p = &l->points[point];
    return (struct timings){.items = p->timings,
                            .n = p->n_timings,
                            .values = l->values,
                            .added = config_adds_launches(&l->spec->config)};
}

/* Largest half-width of a point's confidence intervals, divided by a limit; INFINITY: an interval
 * is unknown. The limit of `whole` is the requested precision. The limit of `asked` is
 * timing_asked_pct, which is stricter for few launches. */
struct excess {
    double whole, asked;
};

static void add_excess(struct excess *x, const struct launch_points *l,
                       const struct interval *interval, bool share, size_t n)
{
    double precision_pct = config_number(&l->spec->config, OPT_TIME_PRECISION);
    double half_pct = timing_half_width_pct(interval, share);
    if (isnan(half_pct))
        half_pct = INFINITY;
    x->whole = fmax(x->whole, half_pct / precision_pct);
    x->asked = fmax(x->asked, half_pct / timing_asked_pct(precision_pct, n));
}

/* Returns the largest half-width of a point's confidence intervals (step time and comparisons),
 * relative to the two limits that struct excess describes. Ignores comparisons without pairs of
 * launches, and comparisons with points that get no further timed launches. */
static struct excess look_at(const struct launch_points *l, size_t point)
{
    const struct point_launches *p = &l->points[point];
    struct excess x = {0};
    struct timings own = timings_of(l, point);
    struct interval interval = timing_step_ms(&own);
    add_excess(&x, l, &interval, false, own.n);
    for (const struct comparison *c = p->comparisons; c < p->comparisons + p->n_comparisons; c++) {
        size_t n;
        struct timings other = timings_of(l, c->with);
        if (launch_points_is_out(l, c->with))
            continue;
        interval = c->is_share ? timing_overlap(&own, &other, &n) : timing_ratio(&own, &other, &n);
        if (n > 0)
            add_excess(&x, l, &interval, c->is_share, n);
    }
    return x;
}

bool launch_points_is_precise(const struct launch_points *l, size_t point)
{
    return l->points[point].n_timings > 0 && look_at(l, point).whole <= 1;
}

static bool is_look(size_t n)
{
    return n >= 2 * TIMING_LOOK && n % TIMING_LOOK == 0;
}

/* Returns the smallest number of launches, at least n, at which the stop rule examines a point;
 * limited to the allowed maximum. */
static uint32_t look_from(const struct launch_points *l, double n)
{
    size_t most = most_launches(l);
    double look = fmax(2, ceil(n / TIMING_LOOK)) * TIMING_LOOK;
    return (uint32_t)fmin(look, (double)most);
}

/* Estimates the number of launches that a point needs. x->whole: largest half-width of the point's
 * confidence intervals after n launches, divided by the requested precision. Returns INFINITY if
 * x->whole is INFINITY. Assumes that half-widths fall as 1 / sqrt(launches). Allows for the stop
 * rule's stricter limit at few launches (timing_asked_pct). */
static double launches_for(const struct launch_points *l, const struct excess *x, size_t n)
{
    double precision_pct = config_number(&l->spec->config, OPT_TIME_PRECISION);
    double part = timing_asked_pct(precision_pct, 1) / precision_pct;
    if (isinf(x->whole))
        return INFINITY;
    double early = pow(x->whole * sqrt((double)n) / part, 2.0 / 3);
    return part * early <= 1 ? early : (double)n * x->whole * x->whole;
}

/* Sets three members of a point that has n launches. `wanted`: number of launches to reach next.
 * `expected`: estimate of the final number of launches. `at_most`: whether `expected` is the
 * allowed maximum because the number needed is unknown or larger. The caller has set `wanted` to n.
 * `wanted` stays n only if the stop rule examines the point after n launches and finds it precise
 * enough. */
static void find_more(const struct launch_points *l, size_t point, size_t n)
{
    struct point_launches *p = &l->points[point];
    struct excess x = {.whole = INFINITY, .asked = INFINITY};
    size_t sure = launch_points_sure(l), most = most_launches(l);
    if (n >= 2 * TIMING_LOOK)
        x = look_at(l, point);
    if (n < sure)
        p->wanted = (uint32_t)sure;
    else if (!is_look(n) || x.asked > 1)
        p->wanted = look_from(l, (double)n + 1);
    double more = launches_for(l, &x, n);
    p->expected = is_look(n) && x.asked <= 1 ? (uint32_t)n : look_from(l, more);
    if (p->expected < p->wanted)
        p->expected = p->wanted;
    p->at_most = sure < most && !(more < (double)most) && p->expected == most;
}

static void find_wanted(struct launch_points *l, size_t point)
{
    struct point_launches *p = &l->points[point];
    size_t n = progress_of(l, point);
    p->progress = p->wanted = p->expected = (uint32_t)n;
    p->at_most = false;
    if (!launch_points_is_out(l, point) && n < most_launches(l))
        find_more(l, point, n);
    l->n_newcomers -= p->is_newcomer;
    p->is_newcomer = p->wanted > p->progress && p->n_timings == 0;
    l->n_newcomers += p->is_newcomer;
}

void launch_points_look(struct launch_points *l, size_t most)
{
    for (; l->n_stale > 0 && most > 0; most--) {
        size_t point = l->stale[l->first_stale];
        l->first_stale = (l->first_stale + 1) % l->spec->n_points;
        l->n_stale--;
        l->points[point].stale = false;
        find_wanted(l, point);
    }
}
