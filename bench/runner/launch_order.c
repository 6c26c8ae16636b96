#include "bench/runner/launch_order.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/collect/collect.h"
#include "comm/cost/cost.h"
#include "kernels/base/mem.h"
#include "kernels/base/rng.h"
#include "kernels/base/stats.h"

#define CONFIDENCE 0.95

static int least_launches(const struct spec *spec)
{
    return (int)spec->config.values[OPT_TIME_LAUNCHES].number;
}

static int most_launches(const struct spec *spec)
{
    return (int)spec->config.values[OPT_TIME_LAUNCHES].number_hi;
}

bool point_wants_accuracy(const struct point *point)
{
    return config_int(&point->config, OPT_STRATEGY) != STRATEGY_none ||
           config_int(&point->config, OPT_RANKS) == 1;
}

/* ---- What the journal says of a point ---- */

/* Points of one identity share launches: the first of them is launched. */
static bool is_twin(const struct launch_order *o, size_t point)
{
    return o->spec->points[point].twin != point;
}

static bool is_of(const struct launch_order *o, const struct journal_launch *l, size_t point,
                  enum launch_run run)
{
    return l->run == run && strcmp(l->point, o->spec->points[point].id) == 0;
}

/* A point that was skipped or has failed is not launched again. */
static bool is_closed(const struct launch_order *o, size_t point)
{
    const char *id = o->spec->points[point].id;
    for (size_t i = 0; i < o->journal->n_skips; i++)
        if (strcmp(o->journal->skips[i].point, id) == 0)
            return true;
    for (size_t i = 0; i < o->journal->n_launches; i++) {
        const struct journal_launch *l = &o->journal->launches[i];
        bool failed = l->status == LAUNCH_FAILED || l->status == LAUNCH_TIMEOUT;
        if (failed && !l->retried && strcmp(l->point, id) == 0)
            return true;
    }
    return false;
}

/* Timed launches have one seed: where one diverged, so will the others. */
static bool has_diverged(const struct launch_order *o, size_t point)
{
    for (size_t i = 0; i < o->journal->n_launches; i++)
        if (o->journal->launches[i].status == LAUNCH_DIVERGED &&
            is_of(o, &o->journal->launches[i], point, RUN_TIME))
            return true;
    return false;
}

static bool has_time(const struct launch_order *o, size_t point, int block)
{
    for (size_t i = 0; i < o->journal->n_launches; i++) {
        const struct journal_launch *l = &o->journal->launches[i];
        if (is_of(o, l, point, RUN_TIME) && l->block == block && launch_is_done(l))
            return true;
    }
    return false;
}

static bool has_accuracy(const struct launch_order *o, size_t point, uint64_t seed)
{
    for (size_t i = 0; i < o->journal->n_launches; i++) {
        const struct journal_launch *l = &o->journal->launches[i];
        if (is_of(o, l, point, RUN_ACCURACY) && l->seed == seed && launch_is_done(l))
            return true;
    }
    return false;
}

/* Mean wall time of a point's launches of one kind that have ended; 0 when there is none. */
static double mean_wall_s(const struct launch_order *o, size_t point, enum launch_run run)
{
    double sum = 0;
    int n = 0;
    for (size_t i = 0; i < o->journal->n_launches; i++) {
        const struct journal_launch *l = &o->journal->launches[i];
        if (!is_of(o, l, point, run) || !launch_is_done(l))
            continue;
        sum += l->wall_s;
        n++;
    }
    return n > 0 ? sum / n : 0;
}

static double spent_s(const struct launch_order *o)
{
    double sum = 0;
    for (size_t i = 0; i < o->journal->n_launches; i++)
        sum += o->journal->launches[i].wall_s;
    return sum;
}

/* ---- Blocks ---- */

/* How far off the median of a point's launches before `block` may be, *n of them: a share of it in
 * per cent; NAN while they are too few to tell. */
static double half_width_pct(const struct launch_order *o, size_t point, int block, size_t *n)
{
    *n = 0;
    for (size_t i = 0; i < o->n_step_ms; i++) {
        const struct journal_launch *l = &o->journal->launches[i];
        if (is_of(o, l, point, RUN_TIME) && l->block < block && !isnan(o->step_ms[i]))
            o->sample[(*n)++] = o->step_ms[i];
    }
    if (*n == 0)
        return NAN;
    struct interval interval = stats_median_interval(o->sample, *n, CONFIDENCE);
    return interval.met ? 100 * stats_relative_half_width(&interval) : NAN;
}

/* Whether the launches before `block` leave the precision unmet. It looks at earlier blocks only,
 * so the answer stays the same while a block is being run. */
static bool is_unmet(const struct launch_order *o, size_t point, int block)
{
    size_t n;
    return !(half_width_pct(o, point, block, &n) <=
             config_number(&o->spec->config, OPT_TIME_PRECISION));
}

static size_t first_base(const struct launch_order *o, size_t point)
{
    return o->spec->points[o->spec->points[point].base_index].twin;
}

static bool block_wants(const struct launch_order *o, size_t point, int block)
{
    if (is_closed(o, point) || has_diverged(o, point))
        return false;
    if (block < least_launches(o->spec) || is_unmet(o, point, block))
        return true;
    for (size_t q = 0; q < o->spec->n_points; q++)
        if (first_base(o, q) == point && !is_closed(o, q) && is_unmet(o, q, block))
            return true;
    return false;
}

static bool block_started(const struct launch_order *o, int block)
{
    for (size_t i = 0; i < o->journal->n_launches; i++)
        if (o->journal->launches[i].run == RUN_TIME && o->journal->launches[i].block == block)
            return true;
    return false;
}

static double block_forecast_s(const struct launch_order *o, int block)
{
    double sum = 0;
    for (size_t p = 0; p < o->spec->n_points; p++)
        if (!is_twin(o, p) && block_wants(o, p, block))
            sum += mean_wall_s(o, p, RUN_TIME);
    return sum;
}

static bool block_fits(const struct launch_order *o, int block)
{
    return block == 0 || block_started(o, block) ||
           spent_s(o) + block_forecast_s(o, block) <= config_number(&o->spec->config, OPT_BUDGET);
}

static bool next_of_block(struct launch_order *o, int block, struct next_launch *next)
{
    size_t n = o->spec->n_points;
    rng_permutation(o->shuffled, (uint32_t)n, o->seed, RNG_STREAM(RNG_SCHEDULE, 0),
                    (uint32_t)block);
    for (size_t i = 0; i < n; i++) {
        size_t point = o->shuffled[i];
        if (is_twin(o, point) || has_time(o, point, block) || !block_wants(o, point, block))
            continue;
        const struct config *config = &o->spec->points[point].config;
        *next = (struct next_launch){.point = point,
                                     .run = RUN_TIME,
                                     .block = block,
                                     .seed = (uint64_t)config_number(config, OPT_SEED)};
        return true;
    }
    return false;
}

/* ---- Accuracy runs ---- */

static bool misses_accuracy(const struct launch_order *o, size_t point, uint64_t seed)
{
    return !is_twin(o, point) && point_wants_accuracy(&o->spec->points[point]) &&
           !is_closed(o, point) && !has_accuracy(o, point, seed);
}

static bool next_accuracy(const struct launch_order *o, struct next_launch *next)
{
    const struct value *seeds = &o->spec->config.values[OPT_ACCURACY_SEEDS];
    for (size_t i = 0; i < seeds->n; i++)
        for (size_t p = 0; p < o->spec->n_points; p++) {
            uint64_t seed = (uint64_t)seeds->numbers[i];
            if (!misses_accuracy(o, p, seed))
                continue;
            *next = (struct next_launch){.point = p, .run = RUN_ACCURACY, .seed = seed};
            return true;
        }
    return false;
}

/* ---- The whole ---- */

bool launch_order_next(struct launch_order *o, struct next_launch *next)
{
    int most = most_launches(o->spec);
    if (most > 0 && next_of_block(o, 0, next))
        return true;
    if (next_accuracy(o, next))
        return true;
    for (int block = 1; block < most && block_fits(o, block); block++)
        if (next_of_block(o, block, next))
            return true;
    return false;
}

/* Blocks that a point's precision is expected to take: the interval narrows with the root of their
 * number. Negative where that ends with the most there may be, or is not known yet. */
static int expect_blocks(const struct launch_order *o, size_t point)
{
    size_t n;
    int least = least_launches(o->spec), most = most_launches(o->spec);
    if (is_closed(o, point) || has_diverged(o, point))
        return 0;
    double excess =
        half_width_pct(o, point, most, &n) / config_number(&o->spec->config, OPT_TIME_PRECISION);
    double more = excess > 1 ? fmax(1, ceil((double)n * (excess * excess - 1))) : 0 * excess;
    if (!((double)n + more < most))
        return least < most ? -most : most;
    return (int)fmax(least, (double)n + more);
}

/* o->blocks: of each point, with those that the points it is the base of take. */
static void expect_all_blocks(const struct launch_order *o)
{
    for (size_t p = 0; p < o->spec->n_points; p++)
        o->blocks[p] = expect_blocks(o, p);
    for (size_t p = 0; p < o->spec->n_points; p++) {
        int *base = &o->blocks[first_base(o, p)];
        if (abs(o->blocks[p]) > abs(*base) && *base != 0)
            *base = o->blocks[p];
    }
}

static size_t timed_launches(const struct launch_order *o, size_t point)
{
    size_t n = 0;
    for (size_t i = 0; i < o->journal->n_launches; i++)
        n += is_of(o, &o->journal->launches[i], point, RUN_TIME) &&
             launch_is_done(&o->journal->launches[i]);
    return n;
}

/* What the first block and accuracy runs have left counts at once, later blocks in *later: they end
 * with the budget. */
static void look_at_point(const struct launch_order *o, size_t point, struct launch_forecast *f,
                          struct launch_forecast *later)
{
    const struct value *seeds = &o->spec->config.values[OPT_ACCURACY_SEEDS];
    size_t done = timed_launches(o, point), all = (size_t)abs(o->blocks[point]), accuracy = 0;
    size_t first = done == 0 && all > 0, timed = all > done ? all - done - first : 0;
    for (size_t i = 0; i < seeds->n; i++)
        accuracy += misses_accuracy(o, point, (uint64_t)seeds->numbers[i]);
    f->left += first + accuracy;
    /* Before its first accuracy run a point's length is unknown: the time is a lower bound. */
    f->left_s += (double)accuracy * mean_wall_s(o, point, RUN_ACCURACY);
    later->left += timed;
    later->left_s += (double)timed * mean_wall_s(o, point, RUN_TIME);
    later->at_most |= timed > 0 && o->blocks[point] < 0;
}

static void add_within_budget(const struct launch_order *o, struct launch_forecast *f,
                              const struct launch_forecast *later)
{
    double room_s = fmax(0, config_number(&o->spec->config, OPT_BUDGET) - spent_s(o));
    double share = later->left_s > room_s ? room_s / later->left_s : 1;
    f->left += (size_t)ceil(share * (double)later->left);
    f->left_s += share * later->left_s;
    f->at_most = later->at_most;
}

struct launch_forecast launch_order_forecast(const struct launch_order *o)
{
    struct launch_forecast f = {0}, later = {0};
    for (size_t i = 0; i < o->journal->n_launches; i++)
        f.done += o->journal->launches[i].status != LAUNCH_RUNNING;
    expect_all_blocks(o);
    for (size_t p = 0; p < o->spec->n_points; p++)
        if (!is_twin(o, p) && !is_closed(o, p))
            look_at_point(o, p, &f, &later);
    add_within_budget(o, &f, &later);
    if (f.done == 0)
        f.left_s = NAN;
    return f;
}

enum status launch_order_open(struct launch_order *o, const struct spec *spec,
                              const struct journal *journal, const char *run_dir, uint64_t seed,
                              struct error *e)
{
    *o = (struct launch_order){.spec = spec, .journal = journal, .run_dir = run_dir, .seed = seed};
    TRY(MEM_NEW(o->shuffled, spec->n_points, "the order of launches", e));
    TRY(MEM_NEW(o->blocks, spec->n_points, "the order of launches", e));
    return launch_order_learn(o, e);
}

void launch_order_close(struct launch_order *o)
{
    free(o->shuffled);
    free(o->blocks);
    free(o->step_ms);
    free(o->sample);
    *o = (struct launch_order){0};
}

/* step_ms of one launch; NAN when it is not a timed launch that counts. */
static enum status learn_launch(const struct launch_order *o, const struct journal_launch *l,
                                double *step_ms, struct error *e)
{
    *step_ms = NAN;
    size_t point = spec_find_point(o->spec, l->point);
    if (l->run != RUN_TIME || l->status != LAUNCH_OK || point >= o->spec->n_points)
        return OK;
    char folder[8192];
    struct launch_result *result;
    TRY(MEM_NEW(result, 1, "the results of a launch", e));
    snprintf(folder, sizeof folder, "%s/%s", o->run_dir, l->launch);
    int ranks = (int)config_int(&o->spec->points[point].config, OPT_RANKS);
    enum status status = launch_read(folder, ranks, result, e);
    if (status == OK)
        *step_ms = result->step_ms;
    free(result);
    return status;
}

static enum status grow(double **numbers, size_t n, struct error *e)
{
    double *grown = realloc(*numbers, n * sizeof *grown);
    if (grown == NULL)
        return error_no_memory(e, "the order of launches");
    *numbers = grown;
    return OK;
}

enum status launch_order_learn(struct launch_order *o, struct error *e)
{
    size_t n = o->journal->n_launches;
    if (n == o->n_step_ms)
        return OK;
    TRY(grow(&o->step_ms, n, e));
    TRY(grow(&o->sample, n, e));
    for (; o->n_step_ms < n; o->n_step_ms++)
        TRY(learn_launch(o, &o->journal->launches[o->n_step_ms], &o->step_ms[o->n_step_ms], e));
    return OK;
}
