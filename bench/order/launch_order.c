#include "bench/order/launch_order.h"

#include <stdlib.h>
#include <string.h>

#include "kernels/base/mem.h"
#include "kernels/base/rng.h"

/* Largest number of points whose required number of launches is recomputed after each launch.
 * Recomputing thousands of points at once would delay the end of a block of launches. */
#define LOOKS_A_LAUNCH 100

static const struct point_launches *point_of(const struct launch_order *o, size_t point)
{
    return &o->points.points[point];
}

/* ---- Queue: unfilled places of started blocks ---- */

static enum status add_to_queue(struct launch_order *o, struct queued item, struct error *e)
{
    TRY(MEM_GROW(o->queue, o->n_queue, "the order of launches", e));
    o->queue[o->n_queue++] = item;
    o->points.points[item.point].n_queued++;
    return OK;
}

/* Removes the first launch of the queue, because it has ended or will not be run. */
static void leave_queue(struct launch_order *o)
{
    o->points.points[o->queue[o->head++].point].n_queued--;
}

/* Moves calibration points to the front, since points with replayed compute need their timings. All
 * other points keep their order. */
static void bring_calibrations(struct launch_order *o)
{
    size_t n = 0;
    for (size_t k = 0; k < o->spec->n_points; k++) {
        uint32_t point = o->shuffled[k];
        if (!config_calibrates(&o->spec->points[point].config))
            continue;
        memmove(o->shuffled + n + 1, o->shuffled + n, (k - n) * sizeof *o->shuffled);
        o->shuffled[n++] = point;
    }
}

/* Draws the random order of points in a block. If a point with many users (points compared with it)
 * is drawn near the end, moves it forward, so that the precision of the users is rechecked before
 * the block ends. Then moves calibration points to the front. */
static void shuffle(struct launch_order *o, int block)
{
    size_t n = o->spec->n_points;
    rng_permutation(o->shuffled, (uint32_t)n, o->seed, RNG_STREAM(RNG_SCHEDULE, 0),
                    (uint32_t)block);
    for (size_t k = n - n / LOOKS_A_LAUNCH; k < n; k++) {
        uint32_t point = o->shuffled[k];
        size_t after = point_of(o, point)->n_users / LOOKS_A_LAUNCH;
        size_t earlier = k % (n - after);
        if (n - 1 - k >= after)
            continue;
        o->shuffled[k] = o->shuffled[earlier];
        o->shuffled[earlier] = point;
    }
    bring_calibrations(o);
}

/* Compares launches of the queue: by block, then by the random order within the block. Retries of
 * failed launches come last, in the order of their failures. */
static int compare_queued(const void *a, const void *b)
{
    const struct queued *x = a, *y = b;
    if (x->failed_at != y->failed_at)
        return x->failed_at < y->failed_at ? -1 : 1;
    if (x->block != y->block)
        return x->block < y->block ? -1 : 1;
    return (x->rank > y->rank) - (x->rank < y->rank);
}

static int compare_blocks(const void *a, const void *b)
{
    const struct queued *x = a, *y = b;
    return (x->block > y->block) - (x->block < y->block);
}

static void find_ranks(struct launch_order *o)
{
    for (size_t i = 0; i < o->n_queue;) {
        int block = o->queue[i].block;
        shuffle(o, block);
        for (size_t k = 0; k < o->spec->n_points; k++)
            o->coming[o->shuffled[k]] = (uint32_t)k;
        for (; i < o->n_queue && o->queue[i].block == block; i++)
            o->queue[i].rank = o->coming[o->queue[i].point];
    }
}

/* Queues the missing launches of the journal's blocks, in the order of an uninterrupted
 * campaign. */
static enum status find_queue(struct launch_order *o, struct error *e)
{
    for (size_t i = 0; i < o->spec->n_points; i++)
        for (size_t k = 0; k < point_of(o, i)->n_turns; k++) {
            const struct turn *turn = &point_of(o, i)->turns[k];
            if (turn->done || launch_points_is_out(&o->points, i))
                continue;
            struct queued item = {.point = i, .block = turn->block, .failed_at = turn->failed_at};
            TRY(add_to_queue(o, item, e));
        }
    if (o->n_queue == 0)
        return OK;
    qsort(o->queue, o->n_queue, sizeof *o->queue, compare_blocks);
    find_ranks(o);
    qsort(o->queue, o->n_queue, sizeof *o->queue, compare_queued);
    return OK;
}

static bool is_pending(const struct launch_order *o, const struct queued *item)
{
    return !launch_points_is_out(&o->points, item->point) &&
           !launch_points_is_done(&o->points, item->point, item->block);
}

static bool next_of_queue(struct launch_order *o, struct next_launch *next)
{
    while (o->head < o->n_queue && !is_pending(o, &o->queue[o->head]))
        leave_queue(o);
    if (o->head == o->n_queue)
        return false;
    const struct queued *item = &o->queue[o->head];
    const struct config *config = &o->spec->points[item->point].config;
    *next = (struct next_launch){.point = item->point,
                                 .run = RUN_TIME,
                                 .block = item->block,
                                 .seed = (uint64_t)config_number(config, OPT_SEED),
                                 .number = point_of(o, item->point)->numbers,
                                 .begins = o->begun,
                                 .n_begins = o->n_begun};
    return true;
}

/* ---- Blocks ---- */

/* Sets o->members to the points of the next block: points that need launches, and the points with
 * which they are compared. Points that get no further timed launches (launch_points_is_out) are not
 * members. Exception: a failed point that is not skipped is a member until it has been in the
 * minimum number of blocks (launch_points_sure), so that a later retry has a place in them. Returns
 * false if no point needs launches. */
static bool find_members(struct launch_order *o)
{
    bool any = false;
    size_t sure = launch_points_sure(&o->points);
    memset(o->members, 0, o->spec->n_points * sizeof *o->members);
    for (size_t i = 0; i < o->spec->n_points; i++) {
        const struct point_launches *p = point_of(o, i);
        if (p->failed && !p->skipped && p->n_places < sure)
            o->members[i] = true;
        if (p->wanted <= p->progress)
            continue;
        any = o->members[i] = true;
        for (size_t k = 0; k < p->n_comparisons; k++)
            if (!launch_points_is_out(&o->points, p->comparisons[k].with))
                o->members[p->comparisons[k].with] = true;
    }
    return any;
}

static bool fits(const struct launch_order *o)
{
    double sum = o->points.timed_s;
    for (size_t i = 0; i < o->spec->n_points; i++)
        if (o->members[i])
            sum += launch_points_mean_s(&o->points, i, RUN_TIME);
    return sum <= config_number(&o->spec->config, OPT_BUDGET);
}

static enum status begin_block(struct launch_order *o, struct error *e)
{
    int block = o->n_block_numbers++;
    o->head = o->n_queue = o->n_begun = 0;
    for (size_t i = 0; i < o->spec->n_points; i++)
        if (o->members[i])
            launch_points_begin(&o->points, i, block);
    shuffle(o, block);
    for (size_t k = 0; k < o->spec->n_points; k++) {
        size_t point = o->shuffled[k];
        if (!o->members[point])
            continue;
        TRY(add_to_queue(o, (struct queued){.point = point, .block = block, .rank = k}, e));
        o->begun[o->n_begun++] = o->ids[point];
    }
    return OK;
}

/* ---- Accuracy runs ---- */

static bool misses_accuracy(const struct launch_order *o, size_t point, size_t seed)
{
    const struct point_launches *p = point_of(o, point);
    return !p->is_twin && !p->skipped && !p->failed &&
           config_wants_accuracy(&o->spec->points[point].config) &&
           !launch_points_accuracy(&o->points, point, seed)->done;
}

static bool next_accuracy(struct launch_order *o, struct next_launch *next)
{
    const struct value *seeds = &o->spec->config.values[OPT_ACCURACY_SEEDS];
    size_t n = o->spec->n_points;
    while (o->accuracy < n * seeds->n &&
           !misses_accuracy(o, o->largest[o->accuracy % n], o->accuracy / n))
        o->accuracy++;
    if (o->accuracy == n * seeds->n)
        return false;
    size_t point = o->largest[o->accuracy % n], seed = o->accuracy / n;
    *next =
        (struct next_launch){.point = point,
                             .run = RUN_ACCURACY,
                             .seed = (uint64_t)seeds->numbers[seed],
                             .number = launch_points_accuracy(&o->points, point, seed)->numbers};
    return true;
}

/* ---- Choose the next launch and read the journal ---- */

enum status launch_order_next(struct launch_order *o, struct next_launch *next, bool *found,
                              struct error *e)
{
    *found = true;
    if (next_of_queue(o, next))
        return OK;
    launch_points_look(&o->points, o->spec->n_points);
    bool newcomers = o->points.n_newcomers > 0;
    if (!newcomers && next_accuracy(o, next))
        return OK;
    if (find_members(o) && (newcomers || fits(o))) {
        TRY(begin_block(o, e));
        *found = next_of_queue(o, next);
        return OK;
    }
    *found = false;
    return OK;
}

static enum status learn_block(struct launch_order *o, const struct journal_block *begun,
                               struct error *e)
{
    o->n_begun = 0;
    if (begun->block < o->n_block_numbers) /* the block's launches are queued already, because this
                                              process started the block */
        return OK;
    for (size_t i = 0; i < begun->n_points; i++) {
        size_t point = spec_find_point(o->spec, begun->points[i]);
        if (point < o->spec->n_points)
            TRY(launch_points_turn(&o->points, point, begun->block, e));
    }
    return OK;
}

static enum status learn_launch(struct launch_order *o, size_t i, struct error *e)
{
    const struct journal_launch *launch = &o->journal->launches[i];
    size_t point = spec_find_point(o->spec, launch->point);
    bool failed = launch_has_failed(launch);
    if (launch->run == RUN_TIME && launch->block >= o->n_block_numbers)
        o->n_block_numbers = launch->block + 1;
    TRY(launch_points_learn(&o->points, i + 1, e));
    if (o->head < o->n_queue && launch->run == RUN_TIME && o->queue[o->head].point == point &&
        o->queue[o->head].block == launch->block)
        leave_queue(o);
    if (!failed || launch->run != RUN_TIME || point >= o->spec->n_points)
        return OK;
    return add_to_queue(o, (struct queued){.point = point, .block = launch->block}, e);
}

static enum status learn_lines(struct launch_order *o, struct error *e)
{
    int numbers = o->n_block_numbers;
    for (; o->n_skips < o->journal->n_skips; o->n_skips++)
        launch_points_skip(&o->points, &o->journal->skips[o->n_skips]);
    for (; o->n_blocks < o->journal->n_blocks; o->n_blocks++) {
        const struct journal_block *begun = &o->journal->blocks[o->n_blocks];
        TRY(learn_block(o, begun, e));
        numbers = begun->block >= numbers ? begun->block + 1 : numbers;
    }
    o->n_block_numbers = numbers;
    for (; o->n_launches < o->journal->n_launches; o->n_launches++)
        TRY(learn_launch(o, o->n_launches, e));
    return OK;
}

enum status launch_order_learn(struct launch_order *o, struct error *e)
{
    TRY(learn_lines(o, e));
    launch_points_look(&o->points, LOOKS_A_LAUNCH);
    return OK;
}

static int compare_sizes(const void *a, const void *b, void *arg)
{
    const struct spec *spec = arg;
    uint32_t i = *(const uint32_t *)a, k = *(const uint32_t *)b;
    long x = config_int(&spec->points[i].config, OPT_NODES);
    long y = config_int(&spec->points[k].config, OPT_NODES);
    return x != y ? (x < y) - (x > y) : (i > k) - (i < k);
}

static void order_by_size(struct launch_order *o)
{
    for (size_t i = 0; i < o->spec->n_points; i++)
        o->largest[i] = (uint32_t)i;
    qsort_r(o->largest, o->spec->n_points, sizeof *o->largest, compare_sizes, (void *)o->spec);
}

enum status launch_order_open(struct launch_order *o, const struct spec *spec,
                              const struct journal *journal, const char *run_dir, uint64_t seed,
                              struct error *e)
{
    *o = (struct launch_order){.spec = spec, .journal = journal, .seed = seed};
    TRY(launch_points_open(&o->points, spec, journal, run_dir, e));
    TRY(MEM_NEW(o->shuffled, spec->n_points, "the order of launches", e));
    TRY(MEM_NEW(o->members, spec->n_points, "the order of launches", e));
    TRY(MEM_NEW(o->coming, spec->n_points, "the order of launches", e));
    TRY(MEM_NEW(o->largest, spec->n_points, "the order of launches", e));
    TRY(MEM_NEW(o->begun, spec->n_points, "the order of launches", e));
    TRY(MEM_NEW(o->ids, spec->n_points, "the order of launches", e));
    for (size_t i = 0; i < spec->n_points; i++)
        o->ids[i] = spec->points[i].id;
    order_by_size(o);
    TRY(learn_lines(o, e));
    launch_points_look(&o->points, spec->n_points);
    while (o->head < o->n_queue)
        leave_queue(o);
    o->head = o->n_queue = 0;
    return find_queue(o, e);
}

void launch_order_close(struct launch_order *o)
{
    launch_points_close(&o->points);
    free(o->shuffled);
    free(o->members);
    free(o->coming);
    free(o->largest);
    free(o->queue);
    free(o->begun);
    free(o->ids);
    *o = (struct launch_order){0};
}
