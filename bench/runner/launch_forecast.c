/* What is left of a campaign, as far as that can be told. */
#include <math.h>
#include <string.h>

#include "bench/runner/launch_order.h"

static bool has_place(const struct launch_order *o, size_t point, int block)
{
    const struct point_launches *p = &o->points.points[point];
    return p->n_turns > 0 && p->turns[p->n_turns - 1].block == block;
}

/* The places of blocks that were begun are sure to be filled; o->members: the points that they are
 * of. */
static void count_begun(const struct launch_order *o, struct launch_forecast *f)
{
    memset(o->members, 0, o->spec->n_points * sizeof *o->members);
    for (size_t i = o->head; i < o->n_queue; i++) {
        const struct queued *item = &o->queue[i];
        if (launch_points_is_out(&o->points, item->point) ||
            launch_points_find_turn(&o->points, item->point, item->block)->done)
            continue;
        o->members[item->point] = true;
        f->left++;
        f->left_s += launch_points_mean_s(&o->points, item->point, RUN_TIME);
    }
}

/* Whether the block that is being run will bring a point on: it, or one that it is compared with, has
 * its place there still to be filled. */
static bool comes_on(const struct launch_order *o, size_t point)
{
    int block = o->n_block_numbers - 1;
    bool left = o->members[point];
    if (!has_place(o, point, block))
        return false;
    for (int k = 0; k < PARTNERS; k++) {
        size_t partner = launch_points_partner(&o->points, point, (enum partner)k);
        if (!has_place(o, partner, block))
            return false;
        left |= o->members[partner];
    }
    return left;
}

/* o->coming: blocks that each point is expected to have beyond those, its own or as one that others
 * are compared with. */
static void find_coming(const struct launch_order *o)
{
    memset(o->coming, 0, o->spec->n_points * sizeof *o->coming);
    for (size_t i = 0; i < o->spec->n_points; i++) {
        const struct point_launches *p = &o->points.points[i];
        size_t progress = p->progress + comes_on(o, i);
        size_t rest = p->expected > progress ? p->expected - progress : 0;
        if (launch_points_is_out(&o->points, i))
            continue;
        o->coming[i] = rest > o->coming[i] ? rest : o->coming[i];
        for (int k = 0; k < PARTNERS; k++) {
            size_t *partner = &o->coming[launch_points_partner(&o->points, i, (enum partner)k)];
            *partner = rest > *partner ? rest : *partner;
        }
    }
}

/* First launches and accuracy runs count at once, later blocks in *later: they end with the
 * budget. */
static void look_at_point(const struct launch_order *o, size_t point, struct launch_forecast *f,
                          struct launch_forecast *later)
{
    const struct point_launches *p = &o->points.points[point];
    size_t first = o->coming[point] > 0 && p->n_timings == 0 && !o->members[point];
    size_t accuracy = p->is_twin || p->skipped || p->failed ? 0 : p->accuracy_left;
    size_t timed = o->coming[point] - first;
    f->left += first + accuracy;
    /* Before its first accuracy run a point's length is unknown: the time is a lower bound. */
    f->left_s += (double)accuracy * launch_points_mean_s(&o->points, point, RUN_ACCURACY);
    later->left += timed;
    later->left_s += (double)timed * launch_points_mean_s(&o->points, point, RUN_TIME);
    later->at_most |= timed > 0 && p->at_most;
}

static void add_within_budget(const struct launch_order *o, struct launch_forecast *f,
                              const struct launch_forecast *later)
{
    double room_s = fmax(0, config_number(&o->spec->config, OPT_BUDGET) - o->points.spent_s);
    double share = later->left_s > room_s ? room_s / later->left_s : 1;
    f->left += (size_t)ceil(share * (double)later->left);
    f->left_s += share * later->left_s;
    f->at_most = later->at_most;
}

struct launch_forecast launch_order_forecast(const struct launch_order *o)
{
    struct launch_forecast f = {.done = o->points.ended}, later = {0};
    count_begun(o, &f);
    find_coming(o);
    for (size_t i = 0; i < o->spec->n_points; i++)
        look_at_point(o, i, &f, &later);
    add_within_budget(o, &f, &later);
    if (f.done == 0)
        f.left_s = NAN;
    return f;
}
