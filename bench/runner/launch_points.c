#include "bench/runner/launch_points.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/collect/collect.h"
#include "comm/cost/cost.h"
#include "kernels/base/mem.h"

/* Exit statuses by which a program refuses what it was asked to do: it would do so again. */
#define EXIT_USAGE       2
#define EXIT_UNAVAILABLE 3

bool point_wants_accuracy(const struct point *point)
{
    return !config_is_foreign(&point->config) &&
           (config_int(&point->config, OPT_STRATEGY) != STRATEGY_none ||
            config_int(&point->config, OPT_RANKS) == 1);
}

static size_t setting(const struct launch_points *l, enum option_id option)
{
    return (size_t)config_number(&l->spec->config, option);
}

static size_t most_launches(const struct launch_points *l)
{
    return (size_t)l->spec->config.values[OPT_TIME_LAUNCHES].number_hi;
}

size_t launch_points_sure(const struct launch_points *l)
{
    size_t least = setting(l, OPT_TIME_LAUNCHES), most = most_launches(l);
    size_t looked = most < 2 * TIMING_LOOK ? most : 2 * TIMING_LOOK;
    return least > looked ? least : looked;
}

bool launch_points_is_out(const struct launch_points *l, size_t point)
{
    const struct point_launches *p = &l->points[point];
    return p->is_twin || p->skipped || p->diverged || p->failed;
}

size_t launch_points_partner(const struct launch_points *l, size_t point, enum partner kind)
{
    size_t partner = l->points[point].partners[kind];
    return launch_points_is_out(l, partner) ? point : partner;
}

struct accuracy_run *launch_points_accuracy(const struct launch_points *l, size_t point,
                                            size_t seed)
{
    return &l->accuracy[point * l->spec->config.values[OPT_ACCURACY_SEEDS].n + seed];
}

double launch_points_mean_s(const struct launch_points *l, size_t point, enum launch_run run)
{
    const struct point_launches *p = &l->points[point];
    return p->ended[run] > 0 ? p->wall_s[run] / (double)p->ended[run] : 0;
}

/* ---- Looks ---- */

/* A point with launches anew, and those that are compared with it, are to be looked at again. */
static void make_stale(struct launch_points *l, size_t point)
{
    if (l->points[point].stale)
        return;
    l->points[point].stale = true;
    l->stale[(l->first_stale + l->n_stale++) % l->spec->n_points] = point;
}

static void make_all_stale(struct launch_points *l, size_t point)
{
    make_stale(l, point);
    for (size_t i = 0; i < l->points[point].n_users; i++)
        make_stale(l, l->points[point].users[i]);
}

static size_t progress_of(const struct launch_points *l, size_t point)
{
    const struct point_launches *p = &l->points[point];
    size_t n = p->n_timings;
    for (int k = 0; k < PARTNERS; k++)
        if (launch_points_partner(l, point, (enum partner)k) != point && p->pairs[k] < n)
            n = p->pairs[k];
    return n;
}

static struct timings timings_of(const struct launch_points *l, size_t point)
{
    const struct point_launches *p = &l->points[point];
    return (struct timings){.items = p->timings, .n = p->n_timings, .values = l->values};
}

/* Half-widths over the precision that is wanted, and over what a look asks; the largest of a point,
 * INFINITY where an interval is not known yet. */
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

/* What has no pairs is not reported: see launch_points_partner. */
static struct excess look_at(const struct launch_points *l, size_t point)
{
    struct excess x = {0};
    struct timings own = timings_of(l, point);
    struct interval interval = timing_step_ms(&own);
    add_excess(&x, l, &interval, false, own.n);
    for (int k = 0; k < PARTNERS; k++) {
        size_t n, partner = launch_points_partner(l, point, (enum partner)k);
        bool share = k == PARTNER_SILENT;
        if (partner == point)
            continue;
        struct timings other = timings_of(l, partner);
        interval = share ? timing_overlap(&own, &other, &n) : timing_ratio(&own, &other, &n);
        if (n > 0)
            add_excess(&x, l, &interval, share, n);
    }
    return x;
}

static bool is_look(size_t n)
{
    return n >= 2 * TIMING_LOOK && n % TIMING_LOOK == 0;
}

/* The first look at n launches or more. */
static size_t look_from(const struct launch_points *l, double n)
{
    size_t most = most_launches(l);
    double look = fmax(2, ceil(n / TIMING_LOOK)) * TIMING_LOOK;
    return look < (double)most ? (size_t)look : most;
}

/* Intervals narrow with the root of their number, and what looks ask grows with it up to the whole
 * precision. */
static double launches_for(const struct launch_points *l, const struct excess *x, size_t n)
{
    double precision_pct = config_number(&l->spec->config, OPT_TIME_PRECISION);
    double part = timing_asked_pct(precision_pct, 1) / precision_pct;
    if (isinf(x->whole))
        return INFINITY;
    double early = pow(x->whole * sqrt((double)n) / part, 2.0 / 3);
    return part * early <= 1 ? early : (double)n * x->whole * x->whole;
}

static void find_wanted(const struct launch_points *l, size_t point)
{
    struct point_launches *p = &l->points[point];
    size_t n = progress_of(l, point), sure = launch_points_sure(l), most = most_launches(l);
    struct excess x = {.whole = INFINITY, .asked = INFINITY};
    bool out = launch_points_is_out(l, point);
    p->progress = p->wanted = p->expected = n;
    p->at_most = false;
    if (out || n >= most)
        return;
    if (n >= 2 * TIMING_LOOK)
        x = look_at(l, point);
    if (n < sure)
        p->wanted = sure;
    else if (!is_look(n) || x.asked > 1)
        p->wanted = look_from(l, (double)n + 1);
    double more = launches_for(l, &x, n);
    p->expected = is_look(n) && x.asked <= 1 ? n : look_from(l, more);
    if (p->expected < p->wanted)
        p->expected = p->wanted;
    p->at_most = sure < most && !(more < (double)most) && p->expected == most;
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

/* ---- Lines of the journal ---- */

void launch_points_skip(struct launch_points *l, const struct journal_skip *skip)
{
    size_t point = spec_find_point(l->spec, skip->point);
    if (point >= l->spec->n_points)
        return;
    l->points[point].skipped = true;
    make_all_stale(l, point);
}

struct turn *launch_points_find_turn(const struct launch_points *l, size_t point, int block)
{
    struct point_launches *p = &l->points[point];
    for (size_t i = p->n_turns; i-- > 0;)
        if (p->turns[i].block == block)
            return &p->turns[i];
    return NULL;
}

enum status launch_points_turn(struct launch_points *l, size_t point, int block, struct error *e)
{
    struct point_launches *p = &l->points[point];
    if (launch_points_find_turn(l, point, block) != NULL)
        return OK;
    TRY(MEM_GROW(p->turns, p->n_turns, "the order of launches", e));
    p->turns[p->n_turns++] = (struct turn){.block = block};
    return OK;
}

static bool has_timing(const struct launch_points *l, size_t point, int block)
{
    const struct point_launches *p = &l->points[point];
    for (size_t i = p->n_timings; i-- > 0;)
        if (p->timings[i].block == block)
            return true;
    return false;
}

static void count_pairs(struct launch_points *l, size_t point, int block)
{
    struct point_launches *p = &l->points[point];
    for (int k = 0; k < PARTNERS; k++)
        p->pairs[k] += p->partners[k] != point && has_timing(l, p->partners[k], block);
    for (size_t i = 0; i < p->n_users; i++) {
        struct point_launches *user = &l->points[p->users[i]];
        if (!has_timing(l, p->users[i], block))
            continue;
        for (int k = 0; k < PARTNERS; k++)
            user->pairs[k] += user->partners[k] == point;
    }
}

/* From the records of a launch, where the journal is of a version that did not tell. */
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
    return OK;
}

/* Timed launches have one seed: where one diverged, so will the others. */
static enum status learn_time(struct launch_points *l, size_t point,
                              const struct journal_launch *launch, struct error *e)
{
    TRY(launch_points_turn(l, point, launch->block, e));
    launch_points_find_turn(l, point, launch->block)->done = true;
    l->points[point].diverged |= launch->status == LAUNCH_DIVERGED;
    return launch->status == LAUNCH_OK ? add_timing(l, point, launch, e) : OK;
}

/* The index of a seed of the spec's accuracy runs; their number where it has no such. */
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

/* A failure that a later run of the campaign has taken up again is none of this one's. What fails
 * in the same way from the first is not waited for. */
static void learn_failure(struct launch_points *l, size_t point,
                          const struct journal_launch *launch, size_t number)
{
    struct point_launches *p = &l->points[point];
    struct turn *turn = launch_points_find_turn(l, point, launch->block);
    if (launch->retried)
        return;
    const struct journal_launch *before =
        &l->journal->launches[p->last_failure > 0 ? p->last_failure - 1 : 0];
    bool same = p->last_failure > 0 && strcmp(before->reason, launch->reason) == 0;
    bool refused = launch->exit_status == EXIT_USAGE || launch->exit_status == EXIT_UNAVAILABLE;
    bool never = p->ended[RUN_TIME] + p->ended[RUN_ACCURACY] == 0;
    p->failures++;
    p->last_failure = number;
    p->failed = p->failed || refused || (same && never) || p->failures > setting(l, OPT_RETRIES);
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
    l->ended++;
    l->spent_s += launch->wall_s;
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
    make_all_stale(l, point);
    return OK;
}

/* ---- Opening ---- */

/* The share of overlap is reported where the calls of a step are replayed. */
static void find_partners(struct launch_points *l, size_t point)
{
    const struct point *from = &l->spec->points[point];
    struct point_launches *p = &l->points[point];
    bool replays = config_number(&from->config, OPT_REPLAY) > 0;
    const size_t partners[PARTNERS] = {[PARTNER_BASE] = from->base_index,
                                       [PARTNER_SILENT] = replays ? from->silent_index : point,
                                       [PARTNER_PEER] = from->peer_index};
    p->is_twin = from->twin != point;
    for (int k = 0; k < PARTNERS; k++)
        p->partners[k] = p->is_twin ? point : l->spec->points[partners[k]].twin;
    p->accuracy_left =
        point_wants_accuracy(from) ? l->spec->config.values[OPT_ACCURACY_SEEDS].n : 0;
}

/* Whether the k-th partner of a point is another one, and none that it has before as well. */
static bool is_user(const struct point_launches *p, size_t point, int k)
{
    for (int i = 0; i < k; i++)
        if (p->partners[i] == p->partners[k])
            return false;
    return p->partners[k] != point;
}

static void find_users(struct launch_points *l)
{
    size_t *next = l->users;
    for (size_t i = 0; i < l->spec->n_points; i++)
        for (int k = 0; k < PARTNERS; k++)
            if (is_user(&l->points[i], i, k))
                l->points[l->points[i].partners[k]].n_users++;
    for (size_t i = 0; i < l->spec->n_points; i++) {
        l->points[i].users = next;
        next += l->points[i].n_users;
        l->points[i].n_users = 0;
    }
    for (size_t i = 0; i < l->spec->n_points; i++)
        for (int k = 0; k < PARTNERS; k++) {
            struct point_launches *partner = &l->points[l->points[i].partners[k]];
            if (is_user(&l->points[i], i, k))
                l->users[(size_t)(partner->users - l->users) + partner->n_users++] = i;
        }
}

enum status launch_points_open(struct launch_points *l, const struct spec *spec,
                               const struct journal *journal, const char *run_dir, struct error *e)
{
    size_t n = spec->n_points, seeds = spec->config.values[OPT_ACCURACY_SEEDS].n;
    *l = (struct launch_points){.spec = spec, .journal = journal, .run_dir = run_dir};
    TRY(MEM_NEW(l->points, n, "the order of launches", e));
    TRY(MEM_NEW(l->users, n * PARTNERS, "the order of launches", e));
    TRY(MEM_NEW(l->stale, n, "the order of launches", e));
    TRY(MEM_NEW(l->accuracy, n * seeds, "the order of launches", e));
    for (size_t i = 0; i < n; i++)
        find_partners(l, i);
    find_users(l);
    for (size_t i = 0; i < n; i++)
        make_stale(l, i);
    return OK;
}

void launch_points_close(struct launch_points *l)
{
    for (size_t i = 0; l->points != NULL && i < l->spec->n_points; i++) {
        free(l->points[i].timings);
        free(l->points[i].turns);
    }
    free(l->points);
    free(l->users);
    free(l->stale);
    free(l->accuracy);
    free(l->values);
    *l = (struct launch_points){0};
}
