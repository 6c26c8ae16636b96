#include "bench/order/launch_points.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/collect/collect.h"
#include "comm/cost/cost.h"
#include "kernels/base/mem.h"

/* exit statuses for wrong input and for an unsuitable machine: no retry helps */
#define EXIT_USAGE       2
#define EXIT_UNAVAILABLE 3

/* largest number of points that a point is compared with: its base, the same point with strategy
 * none (for overlap), and one peer per workload */
#define COMPARISONS (2 + WORKLOADS)

struct accuracy_run *launch_points_accuracy(const struct launch_points *l, size_t point,
                                            size_t seed)
{
    return &l->accuracy[point * l->spec->config.values[OPT_ACCURACY_SEEDS].n + seed];
}

/* ---- Lines of the journal ---- */

/* Marks a point, and all points compared with it, to be examined again. */
static void make_all_stale(struct launch_points *l, size_t point)
{
    const struct point_launches *p = &l->points[point];
    launch_points_make_stale(l, point);
    for (size_t i = 0; i < p->n_users; i++)
        launch_points_make_stale(l, p->users[i]);
}

void launch_points_skip(struct launch_points *l, const struct journal_skip *skip)
{
    size_t point = spec_find_point(l->spec, skip->point);
    if (point >= l->spec->n_points)
        return;
    l->points[point].skipped = true;
    make_all_stale(l, point);
}

static struct turn *find_turn(const struct launch_points *l, size_t point, int block)
{
    struct point_launches *p = &l->points[point];
    for (size_t i = p->n_turns; i-- > 0;)
        if (p->turns[i].block == block)
            return &p->turns[i];
    return NULL;
}

bool launch_points_is_done(const struct launch_points *l, size_t point, int block)
{
    const struct turn *turn = find_turn(l, point, block);
    return turn != NULL && turn->done;
}

void launch_points_begin(struct launch_points *l, size_t point, int block)
{
    struct point_launches *p = &l->points[point];
    p->n_places += p->n_places == 0 || p->last_block != block;
    p->last_block = block;
}

enum status launch_points_turn(struct launch_points *l, size_t point, int block, struct error *e)
{
    struct point_launches *p = &l->points[point];
    if (find_turn(l, point, block) != NULL)
        return OK;
    TRY(MEM_GROW(p->turns, p->n_turns, "the order of launches", e));
    p->turns[p->n_turns++] = (struct turn){.block = block};
    launch_points_begin(l, point, block);
    return OK;
}

static bool has_timing(const struct launch_points *l, size_t point, int block)
{
    const struct point_launches *p = &l->points[point];
    if (p->n_timings == 0 || p->last_timed == block)
        return p->n_timings > 0;
    for (size_t i = p->n_timings; i-- > 0;)
        if (p->timings[i].block == block)
            return true;
    return false;
}

/* Counts the launch pairs that the point's finished timed launch in `block` forms. Adds them to the
 * point's own comparisons and to other points' comparisons with this point. */
static void count_pairs(struct launch_points *l, size_t point, int block)
{
    const struct point_launches *p = &l->points[point];
    for (size_t k = 0; k < p->n_comparisons; k++)
        p->comparisons[k].pairs += has_timing(l, p->comparisons[k].with, block);
    for (size_t i = 0; i < p->n_users; i++) {
        const struct point_launches *user = &l->points[p->users[i]];
        if (!has_timing(l, p->users[i], block))
            continue;
        for (size_t k = 0; k < user->n_comparisons; k++)
            user->comparisons[k].pairs += user->comparisons[k].with == point;
        launch_points_make_stale(l, p->users[i]);
    }
}

/* Reads the step time of a launch from its records. Needed because journals of earlier versions
 * have no step times. */
static enum status read_timing(const struct launch_points *l, size_t point,
                               const struct journal_launch *launch, struct timing *timing,
                               struct error *e)
{
    char folder[8192];
    struct launch_result *result;
    TRY(MEM_NEW(result, 1, "the results of a launch", e));
    snprintf(folder, sizeof folder, "%s/%s", l->run_dir, launch->launch);
    enum status status = launch_take(folder, &l->spec->points[point], launch->wall_s, result, e);
    *timing = (struct timing){launch->block, result->step_ms, result->global_batch,
                              result->comm_replay_ms};
    free(result);
    return status;
}

static enum status add_timing(struct launch_points *l, size_t point,
                              const struct journal_launch *launch, struct error *e)
{
    struct point_launches *p = &l->points[point];
    struct timing timing = {launch->block, launch->step_ms, launch->images, launch->comm_replay_ms};
    if (isnan(timing.step_ms))
        TRY(read_timing(l, point, launch, &timing, e));
    timing.images = point_work(l->spec, &l->spec->points[point], timing.images);
    if (p->n_timings == l->room) {
        TRY(MEM_GROW(l->values, l->room, "the order of launches", e));
        l->room = l->room > 0 ? 2 * l->room : 1;
    }
    TRY(MEM_GROW(p->timings, p->n_timings, "the order of launches", e));
    count_pairs(l, point, launch->block);
    p->timings[p->n_timings++] = timing;
    p->last_timed = launch->block;
    return OK;
}

/* Records a timed launch that ended well or diverged. A diverged point gets no further timed
 * launches: all of them use one seed, so all would diverge. */
static enum status learn_time(struct launch_points *l, size_t point,
                              const struct journal_launch *launch, struct error *e)
{
    TRY(launch_points_turn(l, point, launch->block, e));
    find_turn(l, point, launch->block)->done = true;
    if (launch->status == LAUNCH_DIVERGED) {
        l->points[point].diverged = true;
        make_all_stale(l, point);
    }
    return launch->status == LAUNCH_OK ? add_timing(l, point, launch, e) : OK;
}

/* Returns the index of a seed in measure.accuracy.seeds. If the list lacks the seed, returns the
 * list's length. */
static size_t find_seed(const struct launch_points *l, uint64_t seed)
{
    const struct value *seeds = &l->spec->config.values[OPT_ACCURACY_SEEDS];
    size_t i = 0;
    while (i < seeds->n && (uint64_t)seeds->numbers[i] != seed)
        i++;
    return i;
}

static void learn_accuracy(struct launch_points *l, size_t point,
                           const struct journal_launch *launch)
{
    size_t seed = find_seed(l, launch->seed);
    if (seed == l->spec->config.values[OPT_ACCURACY_SEEDS].n)
        return;
    struct accuracy_run *run = launch_points_accuracy(l, point, seed);
    l->points[point].accuracy_left -= !run->done && l->points[point].accuracy_left > 0;
    run->done = true;
}

/* Records a failed launch of the point, unless journal_retry withdrew the failure. Decides whether
 * the point has failed for good. */
static void learn_failure(struct launch_points *l, size_t point,
                          const struct journal_launch *launch, size_t number)
{
    struct point_launches *p = &l->points[point];
    struct turn *turn = find_turn(l, point, launch->block);
    if (launch->retried)
        return;
    const struct journal_launch *before =
        &l->journal->launches[p->last_failure > 0 ? p->last_failure - 1 : 0];
    bool same = p->last_failure > 0 && strcmp(before->reason, launch->reason) == 0;
    bool refused = launch->exit_status == EXIT_USAGE || launch->exit_status == EXIT_UNAVAILABLE;
    bool never = p->ended[RUN_TIME] + p->ended[RUN_ACCURACY] == 0;
    size_t retries = (size_t)config_number(&l->spec->config, OPT_RETRIES);
    p->failures++;
    p->last_failure = number;
    p->failed = p->failed || refused || (same && never) || p->failures > retries;
    if (p->failed)
        make_all_stale(l, point);
    if (launch->run == RUN_TIME && turn != NULL)
        turn->failed_at = number;
}

static void count_folder(struct launch_points *l, size_t point, const struct journal_launch *launch)
{
    size_t seed = find_seed(l, launch->seed);
    if (launch->run == RUN_TIME)
        l->points[point].numbers++;
    else if (seed < l->spec->config.values[OPT_ACCURACY_SEEDS].n)
        launch_points_accuracy(l, point, seed)->numbers++;
}

enum status launch_points_learn(struct launch_points *l, size_t number, struct error *e)
{
    const struct journal_launch *launch = &l->journal->launches[number - 1];
    size_t point = spec_find_point(l->spec, launch->point);
    if (point >= l->spec->n_points)
        return OK;
    struct point_launches *p = &l->points[point];
    count_folder(l, point, launch);
    if (launch->run == RUN_TIME)
        TRY(launch_points_turn(l, point, launch->block, e));
    if (launch->status == LAUNCH_RUNNING)
        return OK;
    if (launch->outdated) { /* a complete but outdated timed launch is repeated in a new block, not
                               in its old one */
        if (launch->run == RUN_TIME && launch_is_done(launch))
            find_turn(l, point, launch->block)->done = true;
        return OK;
    }
    l->ended++;
    if (launch->run == RUN_TIME)
        l->timed_s += launch->wall_s;
    l->last_s = p->last_s = launch->wall_s;
    if (!launch_is_done(launch)) {
        learn_failure(l, point, launch, number);
    } else {
        p->ended[launch->run]++;
        p->wall_s[launch->run] += launch->wall_s;
        if (launch->run == RUN_TIME)
            TRY(learn_time(l, point, launch, e));
        else
            learn_accuracy(l, point, launch);
    }
    launch_points_make_stale(l, point);
    return OK;
}

/* ---- Open and close ---- */

/* Adds a comparison of two points, unless it exists already or the two points are the same. */
static void compare(struct launch_points *l, size_t point, size_t with, bool is_share)
{
    struct point_launches *p = &l->points[point];
    with = l->spec->points[with].twin;
    if (with == point)
        return;
    for (size_t k = 0; k < p->n_comparisons; k++)
        if (p->comparisons[k].with == with && p->comparisons[k].is_share == is_share)
            return;
    p->comparisons[p->n_comparisons++] =
        (struct comparison){.with = (uint32_t)with, .is_share = is_share};
    l->points[with].n_users++;
}

/* Stores the comparisons of point `row` in its twin, the first point of the spec with the same id.
 * The twin owns the launches. */
static void find_comparisons(struct launch_points *l, size_t row)
{
    const struct point *from = &l->spec->points[row];
    compare(l, from->twin, from->base_index, false);
    for (size_t w = 0; w < WORKLOADS; w++)
        compare(l, from->twin, from->peers[w], false);
    if (config_number(&from->config, OPT_REPLAY) > 0)
        compare(l, from->twin, from->silent_index, true);
}

/* Gives each point a part of l->comparisons. The first of several equal points gets room for the
 * comparisons of all of them. Later equal points get empty parts. */
static void slice_comparisons(struct launch_points *l)
{
    struct comparison *next = l->comparisons;
    for (size_t i = 0; i < l->spec->n_points; i++)
        l->points[l->spec->points[i].twin].n_comparisons += COMPARISONS;
    for (size_t i = 0; i < l->spec->n_points; i++) {
        l->points[i].comparisons = next;
        next += l->points[i].n_comparisons;
        l->points[i].n_comparisons = 0;
    }
}

/* Returns whether comparison k is the first of the point's comparisons with the same other
 * point. */
static bool is_first_with(const struct point_launches *p, size_t k)
{
    for (size_t i = 0; i < k; i++)
        if (p->comparisons[i].with == p->comparisons[k].with)
            return false;
    return true;
}

static void find_users(struct launch_points *l)
{
    uint32_t *next = l->users;
    for (size_t i = 0; i < l->spec->n_points; i++) {
        l->points[i].users = next;
        next += l->points[i].n_users;
        l->points[i].n_users = 0;
    }
    for (size_t i = 0; i < l->spec->n_points; i++)
        for (size_t k = 0; k < l->points[i].n_comparisons; k++) {
            struct point_launches *with = &l->points[l->points[i].comparisons[k].with];
            if (is_first_with(&l->points[i], k))
                l->users[(size_t)(with->users - l->users) + with->n_users++] = (uint32_t)i;
        }
}

static void begin_point(struct launch_points *l, size_t point)
{
    const struct point *from = &l->spec->points[point];
    struct point_launches *p = &l->points[point];
    p->is_twin = from->twin != point;
    p->accuracy_left = config_wants_accuracy(&from->config)
                           ? (uint32_t)l->spec->config.values[OPT_ACCURACY_SEEDS].n
                           : 0;
    launch_points_make_stale(l, point);
}

enum status launch_points_open(struct launch_points *l, const struct spec *spec,
                               const struct journal *journal, const char *run_dir, struct error *e)
{
    size_t n = spec->n_points, seeds = spec->config.values[OPT_ACCURACY_SEEDS].n;
    *l = (struct launch_points){.spec = spec, .journal = journal, .run_dir = run_dir};
    TRY(MEM_NEW(l->points, n, "the order of launches", e));
    TRY(MEM_NEW(l->comparisons, n * COMPARISONS, "the order of launches", e));
    TRY(MEM_NEW(l->users, n * COMPARISONS, "the order of launches", e));
    TRY(MEM_NEW(l->stale, n, "the order of launches", e));
    TRY(MEM_NEW(l->accuracy, n * seeds, "the order of launches", e));
    slice_comparisons(l);
    for (size_t i = 0; i < n; i++)
        find_comparisons(l, i);
    find_users(l);
    for (size_t i = 0; i < n; i++)
        begin_point(l, i);
    return OK;
}

void launch_points_close(struct launch_points *l)
{
    for (size_t i = 0; l->points != NULL && i < l->spec->n_points; i++) {
        free(l->points[i].timings);
        free(l->points[i].turns);
    }
    free(l->points);
    free(l->comparisons);
    free(l->users);
    free(l->stale);
    free(l->accuracy);
    free(l->values);
    *l = (struct launch_points){0};
}
