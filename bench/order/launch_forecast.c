/* Forecasts how many launches of a campaign remain, and how long they take. */
#include <math.h>
#include <string.h>

#include "bench/order/launch_order.h"

static const struct point_launches *point_of(const struct launch_order *o, size_t point)
{
    return &o->points.points[point];
}

/* Returns whether the current block contains the point. Also sets *left to true if the point has a
 * launch in the queue that will still run. */
static bool in_last_block(const struct launch_order *o, size_t point, bool *left)
{
    const struct point_launches *p = point_of(o, point);
    *left |= p->n_queued > 0 && !launch_points_is_out(&o->points, point);
    return p->n_places > 0 && p->last_block == o->n_block_numbers - 1;
}

/* Returns whether the current block will still add 1 to the point's `progress`. The block must
 * contain the point and every comparison point that still gets launches. One of these points must
 * be queued. */
static bool progresses(const struct launch_order *o, size_t point)
{
    const struct point_launches *p = point_of(o, point);
    bool left = false;
    if (!in_last_block(o, point, &left))
        return false;
    for (size_t k = 0; k < p->n_comparisons; k++)
        if (!launch_points_is_out(&o->points, p->comparisons[k].with) &&
            !in_last_block(o, p->comparisons[k].with, &left))
            return false;
    return left;
}

static void raise(uint32_t *number, uint32_t to)
{
    if (*number < to)
        *number = to;
}

/* Sets o->coming[i] to the expected number of launches of point i in future blocks. Includes
 * launches of point i that other points need for their comparisons. */
static void find_coming(const struct launch_order *o)
{
    memset(o->coming, 0, o->spec->n_points * sizeof *o->coming);
    for (size_t i = 0; i < o->spec->n_points; i++) {
        const struct point_launches *p = point_of(o, i);
        if (p->expected <= p->progress || launch_points_is_out(&o->points, i))
            continue;
        uint32_t rest = p->expected - p->progress - progresses(o, i);
        raise(&o->coming[i], rest);
        for (size_t k = 0; k < p->n_comparisons; k++)
            if (!launch_points_is_out(&o->points, p->comparisons[k].with))
                raise(&o->coming[p->comparisons[k].with], rest);
    }
}

/* Adds the number and expected time of the point's remaining launches in started blocks to *f. A
 * started block is always finished. */
static void count_begun(const struct launch_order *o, size_t point, struct launch_forecast *f)
{
    size_t places = launch_points_is_out(&o->points, point) ? 0 : point_of(o, point)->n_queued;
    f->left += places;
    f->left_s += (double)places * launch_points_mean_s(&o->points, point, RUN_TIME);
}

/* Returns the mean time of a step (s); NAN without timed launches, or if ranks sleep instead of
 * computing. */
static double step_s(const struct point_launches *p, const struct config *c)
{
    double sum_ms = 0;
    for (uint32_t i = 0; i < p->n_timings; i++)
        sum_ms += p->timings[i].step_ms;
    return p->n_timings > 0 && !config_replays(c) ? sum_ms / 1e3 / p->n_timings : NAN;
}

/* Returns the mean time of an accuracy run over all points (s); 0 if no accuracy run has ended. */
static double run_mean_s(const struct launch_order *o)
{
    double runs = 0, sum_s = 0;
    for (size_t i = 0; i < o->spec->n_points; i++) {
        runs += point_of(o, i)->ended[RUN_ACCURACY];
        sum_s += point_of(o, i)->wall_s[RUN_ACCURACY];
    }
    return runs > 0 ? sum_s / runs : 0;
}

/* Returns the expected time (s) of an accuracy run of the point. If accuracy runs of the point have
 * ended, this is their mean time. Otherwise it is the mean time of the point's timed launches plus
 * the time of the additional steps of an accuracy run. If this sum is unknown, returns the mean
 * time of all points' accuracy runs; 0 if none has ended. */
static double run_s(const struct launch_order *o, size_t point)
{
    const struct config *c = &o->spec->points[point].config;
    double more = config_run_steps(c) - config_launch_steps(c);
    double by_steps_s =
        launch_points_mean_s(&o->points, point, RUN_TIME) + more * step_s(point_of(o, point), c);
    if (point_of(o, point)->ended[RUN_ACCURACY] > 0)
        return launch_points_mean_s(&o->points, point, RUN_ACCURACY);
    return by_steps_s > 0 ? by_steps_s : run_mean_s(o);
}

/* Counts the point's first launch and accuracy runs, which always run, in the forecast *f. Counts
 * its further launches, which run only within the budget, in the forecast *later. */
static void add_point(const struct launch_order *o, size_t point, struct launch_forecast *f,
                      struct launch_forecast *later)
{
    const struct point_launches *p = point_of(o, point);
    bool queued = p->n_queued > 0 && !launch_points_is_out(&o->points, point);
    size_t first = o->coming[point] > 0 && p->n_timings == 0 && !queued;
    size_t accuracy = p->is_twin || p->skipped || p->failed ? 0 : p->accuracy_left;
    size_t timed = o->coming[point] - first;
    f->left += first + accuracy;
    f->left_s += accuracy > 0 ? (double)accuracy * run_s(o, point) : 0;
    later->left += timed;
    later->left_s += (double)timed * launch_points_mean_s(&o->points, point, RUN_TIME);
    later->at_most |= timed > 0 && p->at_most;
}

static void add_within_budget(const struct launch_order *o, struct launch_forecast *f,
                              const struct launch_forecast *later)
{
    double room_s = fmax(0, config_number(&o->spec->config, OPT_BUDGET) - o->points.timed_s);
    double share = later->left_s > room_s ? room_s / later->left_s : 1;
    f->left += (size_t)ceil(share * (double)later->left);
    f->left_s += share * later->left_s;
    f->at_most = later->at_most;
}

struct launch_forecast launch_order_forecast(const struct launch_order *o)
{
    struct launch_forecast f = {.done = o->points.ended}, later = {0};
    find_coming(o);
    for (size_t i = 0; i < o->spec->n_points; i++) {
        count_begun(o, i, &f);
        add_point(o, i, &f, &later);
    }
    add_within_budget(o, &f, &later);
    if (f.done == 0)
        f.left_s = NAN;
    return f;
}
