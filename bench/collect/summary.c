/* From launches to points: status, medians with intervals, speed-ups paired by block. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench/collect/collect.h"
#include "bench/collect/published.h"
#include "bench/collect/summary.h"
#include "comm/cost/cost.h"
#include "kernels/base/names.h"

int point_cores(const struct point *point)
{
    return (int)config_int(&point->config, OPT_RANKS) * config_cores_per_rank(&point->config);
}

static const struct point *point_find(const struct spec *spec, const char *id)
{
    size_t i = spec_find_point(spec, id);
    return i < spec->n_points ? &spec->points[i] : NULL;
}

static int strategy_of(const struct point *point)
{
    return name_index(config_text(&point->config, OPT_STRATEGY), strategy_names(), STRATEGIES);
}

/* Whether replicas, or the models that are made of them, must be bitwise equal. */
static bool point_is_replicated(const struct point *point)
{
    enum strategy_variant variant;
    struct error e;
    int kind = strategy_of(point);
    return kind >= 0 && config_variant(&point->config, &variant, &e) == OK &&
           strategy_config_flags((enum strategy_kind)kind, variant) &
               (STRATEGY_EXACT | STRATEGY_REPLICATED | STRATEGY_AVERAGED);
}

/* Cut to fit. */
static void copy_clean(char *to, size_t size, const char *from)
{
    size_t length = strnlen(from, size - 1);
    memcpy(to, from, length);
    to[length] = '\0';
    text_clean(to);
}

/* ---- Launches ---- */

/* The error in one sentence, cut to fit. */
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
    const struct point *point = point_find(spec, journal->point);
    if (!launch_is_done(journal) || !point) {
        copy_clean(launch->reason, sizeof launch->reason,
                   point ? journal->reason : "a point that the spec does not have");
        return;
    }
    char dir[4096];
    struct error e = {.status = OK};
    int ranks = (int)config_int(&point->config, OPT_RANKS);
    snprintf(dir, sizeof dir, "%s/%s", run_dir, journal->launch);
    launch->must_be_equal = ranks > 1 && point_is_replicated(point);
    bool read = launch_read(dir, ranks, &launch->result, &e) == OK;
    launch->result.foreign_pct = journal->foreign_pct;
    launch->diverged = read && launch->result.diverged[0];
    launch->ok = read && !launch->diverged;
    if (launch->diverged)
        launch_diverged_text(launch->reason, sizeof launch->reason, &launch->result);
    else if (!read)
        take_error(launch, &e);
}

static enum status take_launches(struct summary *s, const char *run_dir,
                                 const struct journal *journal, struct error *e)
{
    s->n_launches = journal->n_launches;
    s->launches = calloc(s->n_launches + 1, sizeof *s->launches);
    if (!s->launches)
        return error_set(e, ERR_MEMORY, "no memory for %zu launches", s->n_launches);
    for (size_t i = 0; i < s->n_launches; i++) {
        const struct journal_launch *launch = &journal->launches[i];
        const struct point *point = point_find(s->spec, launch->point);
        take_launch(&s->launches[i], s->spec, run_dir, launch);
        if (launch->status == LAUNCH_RUNNING || !point)
            continue;
        s->n_timed += launch->run == RUN_TIME;
        s->n_accuracy += launch->run == RUN_ACCURACY;
        s->wall_s += launch->wall_s;
        s->core_s += launch->wall_s * point_cores(point);
    }
    return OK;
}

/* Each point's launches in the order of the journal, and the reason why it was skipped first. */
static void chain_launches(struct summary *s, const struct journal *journal)
{
    for (size_t i = 0; i < s->n; i++)
        s->points[i].first_launch = s->n_launches;
    for (size_t i = s->n_launches; i-- > 0;) {
        size_t point = spec_find_point(s->spec, journal->launches[i].point);
        if (point >= s->n)
            continue;
        s->launches[i].next = s->points[point].first_launch;
        s->points[point].first_launch = i;
        s->points[point].n_launches++;
    }
    for (size_t i = journal->n_skips; i-- > 0;) {
        size_t point = spec_find_point(s->spec, journal->skips[i].point);
        if (point < s->n)
            s->points[point].skip_reason = journal->skips[i].reason;
    }
}

/* --- The launches of a point
 * ------------------------------------------------------------------------ */

enum status runs_take(struct runs *runs, const struct summary *s, const struct journal *journal,
                      const struct point_summary *p, enum launch_run run, struct error *e)
{
    *runs = (struct runs){.items = calloc(p->n_launches + 1, sizeof *runs->items),
                          .values = calloc(p->n_launches + 1, sizeof *runs->values)};
    if (!runs->items || !runs->values)
        return error_set(e, ERR_MEMORY, "no memory for %zu launches", p->n_launches);
    for (size_t i = p->first_launch; i < s->n_launches; i = s->launches[i].next) {
        const struct journal_launch *launch = &journal->launches[i];
        if (s->launches[i].ok && launch->run == run)
            runs->items[runs->n++] = (struct run){launch, &s->launches[i].result};
    }
    return OK;
}

void runs_free(struct runs *runs)
{
    free(runs->items);
    free(runs->values);
}

double runs_median(const struct runs *runs, size_t offset)
{
    size_t n = 0;
    for (size_t i = 0; i < runs->n; i++) {
        double value = *(const double *)((const char *)runs->items[i].result + offset);
        if (!isnan(value))
            runs->values[n++] = value;
    }
    return stats_median(runs->values, n);
}

struct interval runs_interval(const double *values, size_t n)
{
    struct interval i = stats_median_interval(values, n, SUMMARY_CONFIDENCE);
    if (n < 2)
        i.lo = i.hi = NAN;
    return i;
}

static struct interval step_interval(const struct runs *time)
{
    for (size_t i = 0; i < time->n; i++)
        time->values[i] = time->items[i].result->step_ms;
    return runs_interval(time->values, time->n);
}

/* --- Status
 * ------------------------------------------------------------------------------------------- */

const char *const *point_status_names(void)
{
    static const char *const names[] = {
#define POINT_STATUS(id, fails, meaning) #id,
#include "bench/collect/point_status.def"
#undef POINT_STATUS
    };
    return names;
}

bool summary_fails(const struct summary *s, size_t point)
{
    static const int fails[] = {
#define POINT_STATUS(id, fails, meaning) fails,
#include "bench/collect/point_status.def"
#undef POINT_STATUS
    };
    const struct point_summary *p = &s->points[point];
    bool bounded = s->spec->config.values[OPT_ACCURACY_MIN].text[0] && !p->compute_only;
    return fails[p->outcome] == 1 || (fails[p->outcome] == 2 && bounded);
}

static void set_status(struct point_summary *p, enum point_status status, const char *reason)
{
    p->outcome = status;
    snprintf(p->status, sizeof p->status, "%s", point_status_names()[status]);
    copy_clean(p->reason, sizeof p->reason, reason);
}

/* Timed launches that ended and do not count. */
static size_t count_failures(const struct point_summary *p, const struct summary *s,
                             const struct journal *journal)
{
    size_t n = 0;
    for (size_t i = p->first_launch; i < s->n_launches; i = s->launches[i].next) {
        const struct journal_launch *launch = &journal->launches[i];
        n += launch->run == RUN_TIME && launch->status != LAUNCH_RUNNING && !s->launches[i].ok;
    }
    return n;
}

static bool find_failure(struct point_summary *p, const struct summary *s,
                         const struct journal *journal)
{
    for (size_t i = p->first_launch; i < s->n_launches; i = s->launches[i].next) {
        const struct journal_launch *launch = &journal->launches[i];
        if (s->launches[i].ok || s->launches[i].diverged || launch->status == LAUNCH_RUNNING)
            continue;
        set_status(p, launch->status == LAUNCH_TIMEOUT ? POINT_timeout : POINT_failed,
                   s->launches[i].reason);
        return true;
    }
    return false;
}

static bool find_divergence(struct point_summary *p, const struct summary *s,
                            const struct journal *journal)
{
    for (size_t i = p->first_launch; i < s->n_launches; i = s->launches[i].next) {
        const struct journal_launch *launch = &journal->launches[i];
        char reason[512], which[64] = "a timed launch";
        if (!s->launches[i].diverged)
            continue;
        if (launch->run == RUN_ACCURACY)
            snprintf(which, sizeof which, "seed %llu", (unsigned long long)launch->seed);
        snprintf(reason, sizeof reason, "%.400s, %s", s->launches[i].reason, which);
        set_status(p, POINT_diverged, reason);
        return true;
    }
    return false;
}

static bool find_difference(struct point_summary *p, const struct runs *runs)
{
    if (!point_is_replicated(p->point))
        return false;
    for (size_t i = 0; i < runs->n; i++) {
        const struct launch_result *result = runs->items[i].result;
        if (!result->weights_checked || result->weights_equal)
            continue;
        char reason[512];
        snprintf(reason, sizeof reason, "weights differ between ranks in %s%s%s",
                 runs->items[i].journal->launch, result->first_difference[0] ? ": " : "",
                 result->first_difference);
        set_status(p, POINT_unverified, reason);
        return true;
    }
    return false;
}

/* Launches that did not do the same are no sample of anything. */
static bool find_mixture(struct point_summary *p, const struct runs *a, const struct runs *b)
{
    const struct run *first = a->n ? &a->items[0] : b->n ? &b->items[0] : NULL;
    const char *was, *name;
    for (size_t i = 0; first && (was = launch_common(first->result, i, &name)); i++)
        for (size_t k = 0; k < a->n + b->n; k++) {
            const struct run *run = k < a->n ? &a->items[k] : &b->items[k - a->n];
            const char *is = launch_common(run->result, i, &name);
            if (!was[0] || !is[0] || strcmp(was, is) == 0)
                continue;
            char reason[512];
            snprintf(reason, sizeof reason, "launches differ in %s: '%s' in %s, '%s' in %s", name,
                     was, first->journal->launch, is, run->journal->launch);
            set_status(p, POINT_unverified, reason);
            return true;
        }
    return false;
}

/* Nobody looked, because the spec says so: that is not the same as equal. */
static bool find_unchecked(struct point_summary *p, const struct runs *runs)
{
    if (!point_is_replicated(p->point) || config_int(&p->point->config, OPT_RANKS) == 1)
        return false;
    for (size_t i = 0; i < runs->n; i++) {
        if (strcmp(runs->items[i].result->check, "none") != 0)
            continue;
        set_status(p, POINT_unverified, "weights were not compared (measure.check: none)");
        return true;
    }
    return false;
}

/* Replicas that train apart (`none` at several ranks) owe no accuracy. */
static bool find_inaccuracy(struct point_summary *p, const struct spec *spec,
                            const struct runs *accuracy)
{
    const struct value *wanted = &spec->config.values[OPT_ACCURACY_MIN];
    if (!wanted->text[0] || p->compute_only)
        return false;
    for (size_t i = 0; i < accuracy->n; i++) {
        double reached = accuracy->items[i].result->test_acc_pct;
        if (reached >= wanted->number)
            continue;
        char reason[512], number[TEXT_NUMBER];
        snprintf(reason, sizeof reason, "seed %llu: %s %% test accuracy, %s wanted",
                 (unsigned long long)accuracy->items[i].journal->seed,
                 text_fixed(number, reached, 1), wanted->text);
        set_status(p, POINT_unverified, reason);
        return true;
    }
    return false;
}

static void judge(struct point_summary *p, const struct summary *s, const struct journal *journal,
                  const struct runs *time, const struct runs *accuracy)
{
    if (find_failure(p, s, journal) || find_mixture(p, time, accuracy) ||
        find_divergence(p, s, journal) || find_difference(p, time) ||
        find_difference(p, accuracy) || find_unchecked(p, time) || find_unchecked(p, accuracy) ||
        find_inaccuracy(p, s->spec, accuracy))
        return;
    if (time->n + accuracy->n > 0)
        set_status(p, POINT_ok, "");
    else
        set_status(p, POINT_skipped, p->skip_reason ? p->skip_reason : "no launch finished");
}

void point_add_flag(struct point_summary *p, const char *flag)
{
    size_t used = strlen(p->flags);
    snprintf(p->flags + used, sizeof p->flags - used, "%s%s", used > 0 ? " " : "", flag);
}

static bool shares_cores(const struct runs *time)
{
    for (size_t i = 0; i < time->n; i++)
        if (time->items[i].journal->shares_cores)
            return true;
    return false;
}

bool point_is_busy(const struct point_summary *p)
{
    return p->launches > 0 && p->foreign_pct > SUMMARY_BUSY_PCT;
}

static void set_flags(struct point_summary *p, bool oversubscribed, const struct runs *time)
{
    if (p->timed && p->launches > 0 && !p->precision_met)
        point_add_flag(p, "ci_not_met");
    if (oversubscribed)
        point_add_flag(p, "oversubscribed");
    if (p->compute_only)
        point_add_flag(p, "compute_only");
    if (shares_cores(time))
        point_add_flag(p, "shares_cores");
    if (point_is_busy(p))
        point_add_flag(p, "busy");
}

/* --- Numbers
 * ------------------------------------------------------------------------------------------ */

static double compute_share(const struct launch_result *r)
{
    double compute_ms = r->load_ms + r->forward_ms + r->backward_ms + r->pack_ms + r->optimizer_ms;
    return 100 * compute_ms / r->step_ms;
}

static double wait_share(const struct launch_result *r)
{
    return 100 * r->wait_ms / r->step_ms;
}

/* Where waiting is unknown, it is part of communication. */
static double comm_share(const struct launch_result *r)
{
    double wait_ms = isnan(r->wait_ms) ? 0 : r->wait_ms;
    return 100 * (r->comm_exposed_ms - wait_ms) / r->step_ms;
}

/* Median over launches of a share that each launch has of its own step. */
static double median_share(const struct runs *time, double (*share)(const struct launch_result *))
{
    for (size_t i = 0; i < time->n; i++)
        time->values[i] = share(time->items[i].result);
    return stats_median(time->values, time->n);
}

static void set_shares(struct point_summary *p, const struct runs *time)
{
    p->compute_pct = median_share(time, compute_share);
    p->comm_pct = median_share(time, comm_share);
    p->wait_pct = median_share(time, wait_share);
}

static void set_rates(struct point_summary *p, const struct runs *time)
{
    p->images_per_s = p->gflop_per_s = p->gflop_done_per_s = NAN;
    if (time->n == 0)
        return;
    const struct launch_result *result = time->items[0].result;
    p->images_per_s = 1e3 * (double)result->global_batch / p->step_ms.mid;
    p->gflop_per_s = p->images_per_s * result->flops_per_image / 1e9;
    p->gflop_done_per_s = p->images_per_s * result->flops_done_per_image / 1e9;
}

/* Of timed launches; where there were none, of the others. */
static void set_memory(struct point_summary *p, const struct runs *time,
                       const struct runs *accuracy)
{
    const struct runs *runs = time->n ? time : accuracy;
    p->memory_mib = runs_median(runs, offsetof(struct launch_result, memory_mib));
    p->growth_mib = runs_median(runs, offsetof(struct launch_result, growth_mib));
}

/* The rank that most launches call the last, and how often it was in those. */
static void set_last_rank(struct point_summary *p, const struct runs *time)
{
    size_t most = 0;
    p->last_rank = -1;
    p->last_rank_pct = NAN;
    for (size_t i = 0; i < time->n; i++) {
        int rank = time->items[i].result->last_rank;
        size_t n = 0;
        for (size_t k = 0; k < time->n; k++)
            if (time->items[k].result->last_rank == rank)
                time->values[n++] = time->items[k].result->last_rank_pct;
        if (rank < 0 || n <= most)
            continue;
        most = n;
        p->last_rank = rank;
        p->last_rank_pct = stats_median(time->values, n);
    }
}

static void measure(struct point_summary *p, const struct spec *spec, const struct runs *time,
                    const struct runs *accuracy)
{
    p->launches = time->n;
    p->foreign_pct = runs_median(time, offsetof(struct launch_result, foreign_pct));
    p->batch_per_rank =
        runs_median(time->n ? time : accuracy, offsetof(struct launch_result, batch_per_rank));
    p->step_ms = step_interval(time);
    p->precision_met = p->step_ms.met && 100 * stats_relative_half_width(&p->step_ms) <=
                                             config_number(&spec->config, OPT_TIME_PRECISION);
    set_shares(p, time);
    set_rates(p, time);
    set_memory(p, time, accuracy);
    set_last_rank(p, time);
    p->test_acc_pct = runs_median(accuracy, offsetof(struct launch_result, test_acc_pct));
}

void point_take(struct point_summary *p, const struct spec *spec, size_t i)
{
    p->point = &spec->points[i];
    p->base = p->point->base_index;
    p->peer = spec->points[i].peer_index;
    p->alone = spec->points[i].alone_index;
    p->cores = point_cores(p->point);
    p->timed = spec->config.values[OPT_TIME_LAUNCHES].number_hi > 0;
    p->compute_only =
        strategy_of(p->point) == STRATEGY_none && config_int(&p->point->config, OPT_RANKS) > 1;
}

/* --- Points
 * --------------------------------------------------------------------------------------------- */

static enum status summarise(struct summary *s, size_t i, const struct journal *journal,
                             struct error *e)
{
    struct point_summary *p = &s->points[i];
    struct runs time = {0}, accuracy = {0};
    point_take(p, s->spec, i);
    enum status status = runs_take(&time, s, journal, p, RUN_TIME, e);
    if (status == OK)
        status = runs_take(&accuracy, s, journal, p, RUN_ACCURACY, e);
    if (status == OK) {
        measure(p, s->spec, &time, &accuracy);
        p->failed_launches = count_failures(p, s, journal);
        judge(p, s, journal, &time, &accuracy);
        set_flags(p, point_is_oversubscribed(p->point, s->usable_cores) == 1, &time);
    }
    runs_free(&time);
    runs_free(&accuracy);
    return status;
}

static enum status compare_and_write(struct summary *s, size_t i, const struct journal *journal,
                                     struct error *e)
{
    struct point_summary *p = &s->points[i];
    struct runs time = {0}, accuracy = {0}, base = {0}, peer = {0}, alone = {0};
    enum status status = runs_take(&time, s, journal, p, RUN_TIME, e);
    if (status == OK)
        status = runs_take(&accuracy, s, journal, p, RUN_ACCURACY, e);
    if (status == OK)
        status = runs_take(&base, s, journal, &s->points[p->base], RUN_TIME, e);
    if (status == OK && p->peer != i)
        status = runs_take(&peer, s, journal, &s->points[p->peer], RUN_TIME, e);
    if (status == OK && p->alone != i)
        status = runs_take(&alone, s, journal, &s->points[p->alone], RUN_TIME, e);
    if (status == OK) {
        ratios_set(p, s, &time, &base, &alone, &peer);
        status = overlap_bound(&p->overlap_bound, p->point, &time, &alone, e);
    }
    if (status == OK)
        status = cells_fill(p, s, &time, &accuracy, e);
    runs_free(&time);
    runs_free(&accuracy);
    runs_free(&base);
    runs_free(&peer);
    runs_free(&alone);
    return status;
}

enum status summary_take_published(struct summary *s, struct error *e)
{
    s->published = calloc(1, sizeof *s->published);
    if (!s->published)
        return error_set(e, ERR_MEMORY, "no memory for what was published");
    return published_read(s->published, s->spec, e);
}

enum status summary_collect(struct summary *s, const struct spec *spec, const char *run_dir,
                            const struct journal *journal, struct error *e)
{
    *s = (struct summary){.spec = spec};
    s->points = calloc(spec->n_points + 1, sizeof *s->points);
    if (!s->points)
        return error_set(e, ERR_MEMORY, "no memory for %zu points", spec->n_points);
    s->n = spec->n_points;
    enum status status = machine_read(s, run_dir, e);
    if (status == OK)
        status = summary_take_published(s, e);
    if (status == OK)
        status = take_launches(s, run_dir, journal, e);
    if (status == OK)
        chain_launches(s, journal);
    for (size_t i = 0; i < s->n && status == OK; i++)
        status = summarise(s, i, journal, e);
    for (size_t i = 0; i < s->n && status == OK; i++)
        status = compare_and_write(s, i, journal, e);
    return status;
}

void summary_free(struct summary *s)
{
    for (size_t i = 0; i < s->n; i++)
        cells_free(s->points[i].cells);
    free(s->points);
    free(s->launches);
    if (s->published)
        published_free(s->published);
    free(s->published);
    *s = (struct summary){0};
}
