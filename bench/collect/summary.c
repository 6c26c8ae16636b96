/* Summarises the launches of each point: status, medians with intervals, and ratios to other points
 * from pairs of launches in the same block. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench/base/votes.h"
#include "bench/collect/collect.h"
#include "bench/collect/fits.h"
#include "bench/collect/points/noise.h"
#include "bench/collect/published.h"
#include "bench/collect/summary.h"
#include "kernels/base/mem.h"
#include "kernels/base/terminal.h"
#include "kernels/base/text.h"

/* Copies a text as one line without control characters, since programs may write any bytes. Cuts it
 * to fit. */
static void copy_clean(char *to, size_t size, const char *from)
{
    char line[4096];
    snprintf(line, sizeof line, "%s", from);
    text_clean(line);
    terminal_clean(to, size, line);
}

/* ---- Launches ---- */

/* Sets the launch's reason to the error's file, line and text, cut to fit. */
static void take_error(struct summary_launch *launch, const struct error *e)
{
    char text[sizeof e->file + sizeof e->text + 32];
    if (e->line > 0)
        snprintf(text, sizeof text, "%s:%d: %s", e->file, e->line, e->text);
    else
        snprintf(text, sizeof text, "%s%s%s", e->file, e->file[0] ? ": " : "", e->text);
    copy_clean(launch->reason, sizeof launch->reason, text);
}

static void take_launch(struct summary_launch *launch, const struct spec *spec, const char *run_dir,
                        const struct journal_launch *journal)
{
    launch->point = spec_find_point(spec, journal->point);
    launch->unasked = launch->point >= spec->n_points || journal->outdated;
    if (launch->unasked)
        return;
    const struct point *point = &spec->points[launch->point];
    if (!launch_is_done(journal)) {
        copy_clean(launch->reason, sizeof launch->reason, journal->reason);
        return;
    }
    char dir[4096];
    struct error e = {.status = OK};
    snprintf(dir, sizeof dir, "%s/%s", run_dir, journal->launch);
    bool read = launch_take(dir, point, journal->wall_s, &launch->result, &e) == OK;
    launch->result.foreign_pct = journal->foreign_pct;
#define NOISE(id, unit, launches, meaning) launch->result.id = journal->noise.id;
#include "bench/record/noise.def"
    strcpy(launch->result.start, journal->at);
    launch->diverged = read && launch->result.diverged[0];
    launch->ok = read && !launch->diverged;
    if (launch->diverged)
        launch_diverged_text(launch->reason, sizeof launch->reason, &launch->result);
    else if (!read)
        take_error(launch, &e);
}

static enum status count_kept(struct summary *s, struct error *e)
{
    const struct journal_launch *launches = s->journal->launches;
    const char **points;
    size_t n = 0;
    TRY(MEM_NEW(points, s->n_launches, "the launches", e));
    for (size_t i = 0; i < s->n_launches; i++) {
        bool ended = launches[i].status != LAUNCH_RUNNING;
        if (!s->launches[i].unasked)
            continue;
        if (s->launches[i].point >= s->n) {
            s->n_unasked += ended;
            points[n++] = launches[i].point;
        } else {
            s->n_outdated += ended;
        }
    }
    s->n_unasked_points = text_count_distinct(points, n);
    free(points);
    return OK;
}

static enum status take_launches(struct summary *s, const char *run_dir, struct error *e)
{
    s->n_launches = s->journal->n_launches;
    TRY(MEM_NEW(s->launches, s->n_launches, "the launches", e));
    for (size_t i = 0; i < s->n_launches; i++)
        take_launch(&s->launches[i], s->spec, run_dir, &s->journal->launches[i]);
    return count_kept(s, e);
}

static void share_launches(struct summary *s)
{
    for (size_t i = 0; i < s->n; i++) {
        const struct point_summary *twin = &s->points[s->spec->points[i].twin];
        s->points[i].first_launch = twin->first_launch;
        s->points[i].n_launches = twin->n_launches;
        s->points[i].skip_reason = twin->skip_reason;
    }
}

/* Links the launches of each point by `next`, in journal order. Skips `unasked` launches, which no
 * result uses. Sets each point's skip_reason to its first skip reason in the journal. Equal points
 * get the same launches and skip_reason. */
static void chain_launches(struct summary *s)
{
    const struct journal *journal = s->journal;
    for (size_t i = 0; i < s->n; i++)
        s->points[i].first_launch = s->n_launches;
    for (size_t i = s->n_launches; i-- > 0;) {
        if (s->launches[i].unasked)
            continue;
        struct point_summary *p = &s->points[s->launches[i].point];
        s->launches[i].next = p->first_launch;
        p->first_launch = i;
        p->n_launches++;
    }
    for (size_t i = journal->n_skips; i-- > 0;) {
        size_t point = spec_find_point(s->spec, journal->skips[i].point);
        if (point < s->n)
            s->points[point].skip_reason = journal->skips[i].reason;
    }
    share_launches(s);
}

/* Returns whether another launch of the same block or seed replaces launch i: launch i was retried,
 * or a later launch is valid. */
static bool is_replaced(const struct summary *s, size_t i)
{
    const struct journal_launch *own = &s->journal->launches[i];
    if (own->retried)
        return true;
    for (size_t k = s->launches[i].next; k < s->n_launches; k = s->launches[k].next) {
        const struct journal_launch *other = &s->journal->launches[k];
        bool same = own->run == other->run && own->seed == other->seed &&
                    (own->run == RUN_ACCURACY || own->block == other->block);
        if (same && s->launches[k].ok)
            return true;
    }
    return false;
}

static void count_launches(struct point_summary *p, const struct summary *s)
{
    for (size_t i = p->first_launch; i < s->n_launches; i = s->launches[i].next) {
        const struct journal_launch *launch = &s->journal->launches[i];
        if (launch->status == LAUNCH_RUNNING)
            continue;
        s->launches[i].replaced = !s->launches[i].ok && is_replaced(s, i);
        p->failed_launches += launch->run == RUN_TIME && !s->launches[i].ok;
        p->lost_launches +=
            launch->run == RUN_TIME && !s->launches[i].ok && !s->launches[i].replaced;
        p->accuracy_runs += launch->run == RUN_ACCURACY;
        p->launches_s += launch->wall_s;
        if (!config_is_simulated(&p->point->config))
            p->core_h += launch->wall_s * p->cores / 3600;
    }
}

static size_t count_missing_seeds(const struct point_summary *p, const struct spec *spec,
                                  const struct samples *accuracy)
{
    const double *seeds = spec->config.values[OPT_ACCURACY_SEEDS].numbers;
    size_t missing = 0;
    for (size_t i = 0; i < p->seeds; i++) {
        bool found = false;
        for (size_t k = 0; k < accuracy->n; k++)
            found |= accuracy->items[k].journal->seed == (uint64_t)seeds[i];
        missing += !found;
    }
    return missing;
}

static bool shares_cores(const struct samples *time)
{
    for (size_t i = 0; i < time->n; i++)
        if (time->items[i].journal->shares_cores)
            return true;
    return false;
}

/* Shortest compute time per step that replay reproduces well, in multiples of the sleep margin. An
 * exact sleep ends by polling the clock for up to one margin. With one such sleep per step, polling
 * takes at most a tenth of the compute time. */
enum { MARGINS_LEAST = 10 };
/* overrun of sleeps in replayed compute above which a point gets flag late_replay (% of the step
 * time, median over launches) */
enum { LATE_MOST_PCT = 5 };

static double computing_ms(const struct launch_result *r)
{
    return r->load_ms + r->forward_ms + r->backward_ms + r->optimizer_ms;
}

static double late_share(const struct launch_result *r)
{
    return 100 * r->late_ms / r->step_ms;
}

static double median_over(const struct samples *time,
                          double (*number)(const struct launch_result *))
{
    for (size_t i = 0; i < time->n; i++)
        time->values[i] = number(time->items[i].result);
    return stats_median(time->values, time->n);
}

static struct point_replay replay_of(const struct point *point, const struct samples *time)
{
    struct point_replay replay = {.smallest_step_ms = NAN};
    if (!config_replays(&point->config) || time->n == 0)
        return replay;
    replay.smallest_step_ms =
        MARGINS_LEAST * samples_median(time, offsetof(struct launch_result, sleep_margin_ms));
    replay.is_short = median_over(time, computing_ms) < replay.smallest_step_ms;
    replay.is_late = median_over(time, late_share) > LATE_MOST_PCT;
    return replay;
}

static bool is_mixed(const struct samples *time)
{
    for (size_t i = 0; i < time->n; i++)
        if (launch_is_mixed(time->items[i].result))
            return true;
    return false;
}

/* Returns whether a timed launch ran on fewer machines than the point has nodes. Returns false for
 * emulated and simulated hosts, which always share a machine. */
static bool shares_machine(const struct point_summary *p, const struct samples *time)
{
    const struct config *c = &p->point->config;
    for (size_t i = 0; i < time->n; i++)
        if (time->items[i].result->machines < (double)config_int(c, OPT_NODES))
            return !config_site(c)->shares_cores;
    return false;
}

static void set_flags(struct point_summary *p, const struct summary *s, const struct samples *time)
{
    static const char *const names[] = {
#define FLAG_NAME(name, meaning) #name,
        POINT_FLAGS(FLAG_NAME)
#undef FLAG_NAME
    };
    const bool has[FLAGS] = {
        [FLAG_ci_not_met] = p->timed && p->launches > 0 && !p->precision_met,
        [FLAG_oversubscribed] = point_is_oversubscribed(p->point, s->usable_cores) == 1,
        [FLAG_simulated] = config_is_simulated(&p->point->config),
        [FLAG_replayed] =
            config_replays(&p->point->config) && !config_is_simulated(&p->point->config),
        [FLAG_short_replay] = p->replay.is_short,
        [FLAG_late_replay] = p->replay.is_late,
        [FLAG_compute_only] = p->compute_only,
        [FLAG_by_design] = p->by_design,
        [FLAG_shares_cores] = shares_cores(time),
        [FLAG_memory_off] = memory_is_off(&p->memory, p->point),
        [FLAG_mixed] = is_mixed(time),
        [FLAG_shared_machine] = shares_machine(p, time),
        [FLAG_busy] = point_is_busy(p),
        [FLAG_seeds_missing] = p->seeds_missing > 0 && p->launches + p->accuracy_runs > 0,
        [FLAG_disturbed] = p->noise.disturbed > 0,
        [FLAG_outliers] = p->noise.outliers > 0,
        [FLAG_modes] = p->noise.modes > 1,
        [FLAG_warming] = p->noise.trend<0, [FLAG_slowing] = p->noise.trend> 0,
        [FLAG_base_incomplete] = ratios_lack_launches(p, s)};
    for (int i = 0; i < FLAGS; i++)
        if (has[i])
            text_join(p->flags, sizeof p->flags, " ", names[i]);
}

/* ---- Numbers ---- */

static double compute_share(const struct launch_result *r)
{
    double compute_ms = r->load_ms + r->forward_ms + r->backward_ms + r->pack_ms + r->optimizer_ms;
    return 100 * compute_ms / r->step_ms;
}

static double wait_share(const struct launch_result *r)
{
    return 100 * r->wait_ms / r->step_ms;
}

static double exposed_share(const struct launch_result *r)
{
    return 100 * r->comm_exposed_ms / r->step_ms;
}

static double comm_share(const struct launch_result *r)
{
    return 100 * (r->comm_exposed_ms - r->wait_ms) / r->step_ms;
}

/* Returns the shares of compute, communication and waiting in the step time. If the waiting time of
 * any launch is unknown, the share of communication includes waiting. */
static struct point_shares shares_of(const struct samples *time)
{
    double wait_pct = median_over(time, wait_share);
    return (struct point_shares){
        .compute_pct = median_over(time, compute_share),
        .comm_pct = median_over(time, isnan(wait_pct) ? exposed_share : comm_share),
        .wait_pct = wait_pct};
}

static struct point_rates rates_of(const struct interval *step_ms, const struct samples *time)
{
    if (time->n == 0)
        return (struct point_rates){{.lo = NAN, .mid = NAN, .hi = NAN}, NAN, NAN, NAN, NAN};
    const struct launch_result *result = time->items[0].result;
    double images = 1e3 * (result->global_batch > 0 ? result->global_batch : NAN);
    double images_per_s = images / step_ms->mid;
    double gflop = images_per_s * result->flops_per_image / 1e9;
    double done = images_per_s * result->flops_done_per_image / 1e9;
    double peak = samples_median(time, offsetof(struct launch_result, peak_gflop_per_s));
    return (struct point_rates){
        {.lo = images / step_ms->hi, .mid = images_per_s, .hi = images / step_ms->lo},
        .gflop_per_s = gflop,
        .gflop_done_per_s = done,
        .mfu_pct = 100 * gflop / peak,
        .hfu_pct = 100 * done / peak};
}

/* Returns the median and its interval, over timed launches, of the number at `offset` in struct
 * launch_result. All are NAN if any launch lacks the number. */
static struct interval interval_over_launches(const struct samples *time, size_t offset)
{
    size_t n = samples_known(time, offset);
    return timing_interval(time->values, n == time->n ? n : 0, time->timings.added);
}

static struct point_energy energy_of(const struct samples *time)
{
    return (struct point_energy){
        .step_j = interval_over_launches(time, offsetof(struct launch_result, energy_step_j)),
        .epoch_j = interval_over_launches(time, offsetof(struct launch_result, energy_epoch_j)),
        .images_per_j = interval_over_launches(time, offsetof(struct launch_result, images_per_j))};
}

/* Returns the price of an epoch, and the number of images per currency unit. Only the point's own
 * cores are priced, not idle cores of its nodes. */
static struct point_price price_of(const struct point_summary *p, const struct summary *s,
                                   const struct samples *time)
{
    double per_core_hour = config_number(&s->spec->config, OPT_SITE_PRICE);
    double per_s = per_core_hour > 0 ? p->cores * per_core_hour / 3600 : NAN;
    double epoch_s = samples_median(time, offsetof(struct launch_result, epoch_timed_s));
    return (struct point_price){.epoch = epoch_s * per_s,
                                .images_per_unit = p->rates.images_per_s.mid / per_s};
}

static struct interval interval_over_seeds(const struct samples *accuracy, size_t offset)
{
    size_t n = samples_known(accuracy, offset);
    struct interval interval = timing_interval(accuracy->values, n, false);
    interval.level = n < 2 ? NAN : interval.level;
    return interval;
}

/* Returns the median and interval, over seeds, of the number at `offset` in struct launch_result.
 * NAN if a seed diverged or missed the target: the other seeds alone would look too fast. */
static struct interval interval_to_target(const struct samples *accuracy, size_t offset)
{
    size_t n = samples_known(accuracy, offset);
    bool all = accuracy->diverged == 0 && n == accuracy->n;
    return timing_interval(accuracy->values, all ? n : 0, false);
}

static struct point_accuracy accuracy_of(const struct samples *accuracy)
{
    return (struct point_accuracy){
        .test_acc_pct = interval_over_seeds(accuracy, offsetof(struct launch_result, test_acc_pct)),
        .noise_scale = interval_over_seeds(accuracy, offsetof(struct launch_result, noise_scale)),
        .to_target_s = interval_to_target(accuracy, offsetof(struct launch_result, to_target_s)),
        .to_target_epochs =
            interval_to_target(accuracy, offsetof(struct launch_result, to_target_epochs)),
        .to_target_images =
            interval_to_target(accuracy, offsetof(struct launch_result, to_target_images))};
}

/* Each launch votes for its last_rank, the rank that was most often last to reach the
 * synchronisation. Sets *to: the rank with the most votes, the median last_rank_pct of the launches
 * that voted for this rank, and the p-value of the vote (votes.h). */
static enum status set_last_rank(struct point_last *to, int ranks, const struct samples *time,
                                 struct error *e)
{
    int *votes;
    size_t own = 0;
    TRY(MEM_NEW(votes, time->n, "the ranks that arrive last", e));
    for (size_t i = 0; i < time->n; i++)
        votes[i] = (int)time->items[i].result->last_rank;
    struct votes last = votes_count(votes, time->n, ranks);
    for (size_t i = 0; i < time->n; i++)
        if (votes[i] >= 0 && votes[i] == last.choice)
            time->values[own++] = time->items[i].result->last_rank_pct;
    free(votes);
    *to = (struct point_last){last.choice, stats_median(time->values, own), last.p};
    return OK;
}

static enum status measure(struct point_summary *p, const struct summary *s,
                           const struct point_samples *all, struct error *e)
{
    const struct samples *time = &all->time, *accuracy = &all->accuracy;
    p->launches = time->n;
    p->foreign_pct = samples_median(time, offsetof(struct launch_result, foreign_pct));
    p->batch_per_rank =
        samples_median(time->n ? time : accuracy, offsetof(struct launch_result, batch_per_rank));
    p->step_ms = timing_step_ms(&time->timings);
    if (time->n < 2)
        p->step_ms.level = NAN;
    p->shares = shares_of(time);
    p->rates = rates_of(&p->step_ms, time);
    p->energy = energy_of(time);
    p->price = price_of(p, s, time);
    p->replay = replay_of(p->point, time);
    p->accuracy = accuracy_of(accuracy);
    TRY(memory_set(&p->memory, p->point, all, e));
    return set_last_rank(&p->last, (int)config_int(&p->point->config, OPT_RANKS), time, e);
}

/* ---- Points ---- */

static enum status summarise_samples(struct summary *s, size_t i, struct point_samples *own,
                                     struct error *e)
{
    struct point_summary *p = &s->points[i];
    point_take(p, s->spec, i);
    TRY(samples_take(&own->time, s, p, RUN_TIME, e));
    TRY(samples_take(&own->accuracy, s, p, RUN_ACCURACY, e));
    TRY(measure(p, s, own, e));
    count_launches(p, s);
    p->seeds_missing = count_missing_seeds(p, s->spec, &own->accuracy);
    point_judge(p, s, own);
    return OK;
}

static enum status compare_samples(struct summary *s, size_t i, const struct point_samples *all,
                                   struct error *e)
{
    static const struct samples none = {.n = 0};
    struct point_summary *p = &s->points[i];
    const struct samples *time = &all[i].time;
    const struct samples *alone = p->alone != i ? &all[p->alone].time : &none;
    ratios_set(p, s, all);
    noise_judge_point(&p->noise, time, s->n_trends);
    set_flags(p, s, time);
    predicted_find(p, s);
    TRY(overlap_model(&p->overlap.model, p->point, time, alone, e));
    return cells_fill(p, s, &all[i], e);
}

static enum status fit_curves(struct summary *s, const struct point_samples *all, struct error *e)
{
    struct timings *launches;
    TRY(MEM_NEW(launches, s->n, "the launches of fits", e));
    for (size_t i = 0; i < s->n; i++)
        launches[i] = all[i].time.timings;
    enum status status = fits_make(s, launches, e);
    free(launches);
    return status;
}

static enum status summarise_all(struct summary *s, struct point_samples *all, struct error *e)
{
    for (size_t i = 0; i < s->n; i++)
        TRY(summarise_samples(s, i, &all[i], e));
    for (size_t i = 0; i < s->n; i++)
        TRY(compare_samples(s, i, all, e));
    for (size_t i = 0; i < s->n; i++)
        TRY(point_read_cells(&s->points[i], e));
    summary_add_up(s);
    return fit_curves(s, all, e);
}

static enum status summarise_points(struct summary *s, struct error *e)
{
    struct point_samples *all;
    TRY(MEM_NEW(all, s->n, "the points", e));
    enum status status = summarise_all(s, all, e);
    for (size_t i = 0; i < s->n; i++) {
        samples_free(&all[i].time);
        samples_free(&all[i].accuracy);
    }
    free(all);
    return status;
}

enum status summary_open(struct summary *s, const struct spec *spec, const char *run_dir,
                         struct error *e)
{
    *s = (struct summary){.spec = spec};
    TRY(MEM_NEW(s->points, spec->n_points, "the points", e));
    s->n = spec->n_points;
    TRY(machine_read(s, run_dir, e));
    TRY(MEM_NEW(s->published, 1, "the published values", e));
    return published_read(s->published, spec, e);
}

enum status summary_collect(struct summary *s, const struct spec *spec, const char *run_dir,
                            const struct journal *journal, struct error *e)
{
    TRY(summary_open(s, spec, run_dir, e));
    s->journal = journal;
    TRY(take_launches(s, run_dir, e));
    chain_launches(s);
    TRY(noise_judge_launches(s, e));
    s->n_trends = noise_points_tested(s);
    return summarise_points(s, e);
}

void summary_free(struct summary *s)
{
    for (size_t i = 0; i < s->n; i++)
        cells_free(s->points[i].cells);
    free(s->points);
    free(s->launches);
    if (s->published != NULL)
        published_free(s->published);
    free(s->published);
    fits_free(s->fits);
    *s = (struct summary){0};
}
