#include "bench/runner/schedule.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/collect/collect.h"
#include "comm/cost/cost.h"
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

bool schedule_wants_accuracy(const struct point *point)
{
    return config_int(&point->config, OPT_STRATEGY) != STRATEGY_none ||
           config_int(&point->config, OPT_RANKS) == 1;
}

/* ---- What the journal says of a point ---- */

static bool is_of(const struct schedule *s, const struct journal_launch *l, size_t point,
                  enum launch_run run)
{
    return l->run == run && strcmp(l->point, s->spec->points[point].id) == 0;
}

/* A point that was skipped or has failed is not launched again. */
static bool is_closed(const struct schedule *s, size_t point)
{
    const char *id = s->spec->points[point].id;
    for (size_t i = 0; i < s->journal->n_skips; i++)
        if (strcmp(s->journal->skips[i].point, id) == 0)
            return true;
    for (size_t i = 0; i < s->journal->n_launches; i++) {
        const struct journal_launch *l = &s->journal->launches[i];
        bool failed = l->status == LAUNCH_FAILED || l->status == LAUNCH_TIMEOUT;
        if (failed && strcmp(l->point, id) == 0)
            return true;
    }
    return false;
}

/* Timed launches have one seed: where one diverged, so will the others. */
static bool has_diverged(const struct schedule *s, size_t point)
{
    for (size_t i = 0; i < s->journal->n_launches; i++)
        if (s->journal->launches[i].status == LAUNCH_DIVERGED &&
            is_of(s, &s->journal->launches[i], point, RUN_TIME))
            return true;
    return false;
}

static bool has_time(const struct schedule *s, size_t point, int block)
{
    for (size_t i = 0; i < s->journal->n_launches; i++) {
        const struct journal_launch *l = &s->journal->launches[i];
        if (is_of(s, l, point, RUN_TIME) && l->block == block && launch_is_done(l))
            return true;
    }
    return false;
}

static bool has_accuracy(const struct schedule *s, size_t point, uint64_t seed)
{
    for (size_t i = 0; i < s->journal->n_launches; i++) {
        const struct journal_launch *l = &s->journal->launches[i];
        if (is_of(s, l, point, RUN_ACCURACY) && l->seed == seed && launch_is_done(l))
            return true;
    }
    return false;
}

/* Mean wall time of a point's launches of one kind that have ended; 0 when there is none. */
static double mean_wall_s(const struct schedule *s, size_t point, enum launch_run run)
{
    double sum = 0;
    int n = 0;
    for (size_t i = 0; i < s->journal->n_launches; i++) {
        const struct journal_launch *l = &s->journal->launches[i];
        if (!is_of(s, l, point, run) || !launch_is_done(l))
            continue;
        sum += l->wall_s;
        n++;
    }
    return n > 0 ? sum / n : 0;
}

static double spent_s(const struct schedule *s)
{
    double sum = 0;
    for (size_t i = 0; i < s->journal->n_launches; i++)
        sum += s->journal->launches[i].wall_s;
    return sum;
}

/* ---- Blocks ---- */

/* How far off the median of a point's launches before `block` may be, *n of them: a share of it in
 * per cent; NAN while they are too few to tell. */
static double half_width_pct(const struct schedule *s, size_t point, int block, size_t *n)
{
    *n = 0;
    for (size_t i = 0; i < s->n_step_ms; i++) {
        const struct journal_launch *l = &s->journal->launches[i];
        if (is_of(s, l, point, RUN_TIME) && l->block < block && !isnan(s->step_ms[i]))
            s->sample[(*n)++] = s->step_ms[i];
    }
    if (*n == 0)
        return NAN;
    struct interval interval = stats_median_interval(s->sample, *n, CONFIDENCE);
    return interval.met ? 100 * stats_relative_half_width(&interval) : NAN;
}

/* Whether the launches before `block` leave the precision unmet. It looks at earlier blocks only,
 * so the answer stays the same while a block is being run. */
static bool is_unmet(const struct schedule *s, size_t point, int block)
{
    size_t n;
    return !(half_width_pct(s, point, block, &n) <=
             config_number(&s->spec->config, OPT_TIME_PRECISION));
}

static bool block_wants(const struct schedule *s, size_t point, int block)
{
    if (is_closed(s, point) || has_diverged(s, point))
        return false;
    if (block < least_launches(s->spec) || is_unmet(s, point, block))
        return true;
    for (size_t q = 0; q < s->spec->n_points; q++)
        if (s->spec->points[q].base_index == point && !is_closed(s, q) && is_unmet(s, q, block))
            return true;
    return false;
}

static bool block_started(const struct schedule *s, int block)
{
    for (size_t i = 0; i < s->journal->n_launches; i++)
        if (s->journal->launches[i].run == RUN_TIME && s->journal->launches[i].block == block)
            return true;
    return false;
}

static double block_forecast_s(const struct schedule *s, int block)
{
    double sum = 0;
    for (size_t p = 0; p < s->spec->n_points; p++)
        if (block_wants(s, p, block))
            sum += mean_wall_s(s, p, RUN_TIME);
    return sum;
}

static bool block_fits(const struct schedule *s, int block)
{
    return block == 0 || block_started(s, block) ||
           spent_s(s) + block_forecast_s(s, block) <= config_number(&s->spec->config, OPT_BUDGET);
}

static bool next_of_block(struct schedule *s, int block, struct schedule_item *next)
{
    size_t n = s->spec->n_points;
    rng_permutation(s->order, (uint32_t)n, s->seed, RNG_STREAM(RNG_SCHEDULE, 0), (uint32_t)block);
    for (size_t i = 0; i < n; i++) {
        size_t point = s->order[i];
        if (has_time(s, point, block) || !block_wants(s, point, block))
            continue;
        const struct config *config = &s->spec->points[point].config;
        *next = (struct schedule_item){.point = point,
                                       .run = RUN_TIME,
                                       .block = block,
                                       .seed = (uint64_t)config_number(config, OPT_SEED)};
        return true;
    }
    return false;
}

/* ---- Accuracy runs ---- */

static bool misses_accuracy(const struct schedule *s, size_t point, uint64_t seed)
{
    return schedule_wants_accuracy(&s->spec->points[point]) && !is_closed(s, point) &&
           !has_accuracy(s, point, seed);
}

static bool next_accuracy(const struct schedule *s, struct schedule_item *next)
{
    const struct value *seeds = &s->spec->config.values[OPT_ACCURACY_SEEDS];
    for (size_t i = 0; i < seeds->n; i++)
        for (size_t p = 0; p < s->spec->n_points; p++) {
            uint64_t seed = (uint64_t)seeds->numbers[i];
            if (!misses_accuracy(s, p, seed))
                continue;
            *next = (struct schedule_item){.point = p, .run = RUN_ACCURACY, .seed = seed};
            return true;
        }
    return false;
}

/* ---- The whole ---- */

bool schedule_next(struct schedule *s, struct schedule_item *next)
{
    int most = most_launches(s->spec);
    if (most > 0 && next_of_block(s, 0, next))
        return true;
    if (next_accuracy(s, next))
        return true;
    for (int block = 1; block < most && block_fits(s, block); block++)
        if (next_of_block(s, block, next))
            return true;
    return false;
}

/* Blocks that a point's precision is expected to take: the interval narrows with the root of their
 * number. Negative where that ends with the most there may be, or is not known yet. */
static int expect_blocks(const struct schedule *s, size_t point)
{
    size_t n;
    int least = least_launches(s->spec), most = most_launches(s->spec);
    if (is_closed(s, point) || has_diverged(s, point))
        return 0;
    double excess =
        half_width_pct(s, point, most, &n) / config_number(&s->spec->config, OPT_TIME_PRECISION);
    double more = excess > 1 ? fmax(1, ceil((double)n * (excess * excess - 1))) : 0 * excess;
    if (!((double)n + more < most))
        return least < most ? -most : most;
    return (int)fmax(least, (double)n + more);
}

/* s->blocks: of each point, with those that the points it is the base of take. */
static void expect_all_blocks(const struct schedule *s)
{
    for (size_t p = 0; p < s->spec->n_points; p++)
        s->blocks[p] = expect_blocks(s, p);
    for (size_t p = 0; p < s->spec->n_points; p++) {
        int *base = &s->blocks[s->spec->points[p].base_index];
        if (abs(s->blocks[p]) > abs(*base) && *base != 0)
            *base = s->blocks[p];
    }
}

static size_t timed_launches(const struct schedule *s, size_t point)
{
    size_t n = 0;
    for (size_t i = 0; i < s->journal->n_launches; i++)
        n += is_of(s, &s->journal->launches[i], point, RUN_TIME) &&
             launch_is_done(&s->journal->launches[i]);
    return n;
}

/* What the first block and accuracy runs have left counts at once, later blocks in *later: they end
 * with the budget. */
static void look_at_point(const struct schedule *s, size_t point, struct schedule_outlook *o,
                          struct schedule_outlook *later)
{
    const struct value *seeds = &s->spec->config.values[OPT_ACCURACY_SEEDS];
    size_t done = timed_launches(s, point), all = (size_t)abs(s->blocks[point]), accuracy = 0;
    size_t first = done == 0 && all > 0, timed = all > done ? all - done - first : 0;
    for (size_t i = 0; i < seeds->n; i++)
        accuracy += misses_accuracy(s, point, (uint64_t)seeds->numbers[i]);
    o->left += first + accuracy;
    /* Before its first accuracy run a point's length is unknown: the time is a lower bound. */
    o->left_s += (double)accuracy * mean_wall_s(s, point, RUN_ACCURACY);
    later->left += timed;
    later->left_s += (double)timed * mean_wall_s(s, point, RUN_TIME);
    later->at_most |= timed > 0 && s->blocks[point] < 0;
}

static void add_within_budget(const struct schedule *s, struct schedule_outlook *o,
                              const struct schedule_outlook *later)
{
    double room_s = fmax(0, config_number(&s->spec->config, OPT_BUDGET) - spent_s(s));
    double share = later->left_s > room_s ? room_s / later->left_s : 1;
    o->left += (size_t)ceil(share * (double)later->left);
    o->left_s += share * later->left_s;
    o->at_most = later->at_most;
}

struct schedule_outlook schedule_look_ahead(const struct schedule *s)
{
    struct schedule_outlook o = {0}, later = {0};
    for (size_t i = 0; i < s->journal->n_launches; i++)
        o.done += s->journal->launches[i].status != LAUNCH_RUNNING;
    expect_all_blocks(s);
    for (size_t p = 0; p < s->spec->n_points; p++)
        if (!is_closed(s, p))
            look_at_point(s, p, &o, &later);
    add_within_budget(s, &o, &later);
    if (o.done == 0)
        o.left_s = NAN;
    return o;
}

enum status schedule_open(struct schedule *s, const struct spec *spec,
                          const struct journal *journal, const char *run_dir, uint64_t seed,
                          struct error *e)
{
    *s = (struct schedule){.spec = spec, .journal = journal, .run_dir = run_dir, .seed = seed};
    s->order = calloc(spec->n_points, sizeof *s->order);
    s->blocks = calloc(spec->n_points, sizeof *s->blocks);
    if (!s->order || !s->blocks)
        return error_set(e, ERR_MEMORY, "no memory for the schedule");
    enum status status = schedule_learn(s, e);
    if (status != OK)
        schedule_close(s);
    return status;
}

void schedule_close(struct schedule *s)
{
    free(s->order);
    free(s->blocks);
    free(s->step_ms);
    free(s->sample);
    *s = (struct schedule){0};
}

/* step_ms of one launch; NAN when it is not a timed launch that counts. */
static enum status learn_launch(const struct schedule *s, const struct journal_launch *l,
                                double *step_ms, struct error *e)
{
    *step_ms = NAN;
    if (l->run != RUN_TIME || l->status != LAUNCH_OK)
        return OK;
    char folder[8192];
    struct launch_result *result = calloc(1, sizeof *result);
    if (!result)
        return error_set(e, ERR_MEMORY, "no memory for the schedule");
    snprintf(folder, sizeof folder, "%s/%s", s->run_dir, l->launch);
    int ranks = 0;
    for (size_t p = 0; p < s->spec->n_points; p++)
        if (is_of(s, l, p, RUN_TIME))
            ranks = (int)config_int(&s->spec->points[p].config, OPT_RANKS);
    enum status status = launch_read(folder, ranks, result, e);
    if (status == OK)
        *step_ms = result->step_ms;
    free(result);
    return status;
}

static enum status grow(double **numbers, size_t n, struct error *e)
{
    double *grown = realloc(*numbers, n * sizeof *grown);
    if (!grown)
        return error_set(e, ERR_MEMORY, "no memory for the schedule");
    *numbers = grown;
    return OK;
}

enum status schedule_learn(struct schedule *s, struct error *e)
{
    size_t n = s->journal->n_launches;
    if (n == s->n_step_ms)
        return OK;
    enum status status = grow(&s->step_ms, n, e);
    if (status == OK)
        status = grow(&s->sample, n, e);
    for (; status == OK && s->n_step_ms < n; s->n_step_ms++)
        status = learn_launch(s, &s->journal->launches[s->n_step_ms], &s->step_ms[s->n_step_ms], e);
    return status;
}
