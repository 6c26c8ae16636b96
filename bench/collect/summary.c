/* From launches to points: status, medians with intervals, speed-ups paired by block. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench/collect/collect.h"
#include "bench/collect/published.h"
#include "bench/collect/summary.h"

static const struct point *point_find(const struct spec *spec, const char *id)
{
    size_t i = spec_find_point(spec, id);
    return i < spec->n_points ? &spec->points[i] : NULL;
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

static struct interval step_interval(const struct samples *time)
{
    for (size_t i = 0; i < time->n; i++)
        time->values[i] = time->items[i].result->step_ms;
    return samples_interval(time->values, time->n);
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

static bool shares_cores(const struct samples *time)
{
    for (size_t i = 0; i < time->n; i++)
        if (time->items[i].journal->shares_cores)
            return true;
    return false;
}

static void set_flags(struct point_summary *p, bool oversubscribed, const struct samples *time)
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

/* Where waiting is unknown, it is part of communication. */
static double comm_share(const struct launch_result *r)
{
    double wait_ms = isnan(r->wait_ms) ? 0 : r->wait_ms;
    return 100 * (r->comm_exposed_ms - wait_ms) / r->step_ms;
}

/* Median over launches of a share that each launch has of its own step. */
static double median_share(const struct samples *time,
                           double (*share)(const struct launch_result *))
{
    for (size_t i = 0; i < time->n; i++)
        time->values[i] = share(time->items[i].result);
    return stats_median(time->values, time->n);
}

static void set_shares(struct point_summary *p, const struct samples *time)
{
    p->compute_pct = median_share(time, compute_share);
    p->comm_pct = median_share(time, comm_share);
    p->wait_pct = median_share(time, wait_share);
}

static void set_rates(struct point_summary *p, const struct samples *time)
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
static void set_memory(struct point_summary *p, const struct samples *time,
                       const struct samples *accuracy)
{
    const struct samples *samples = time->n ? time : accuracy;
    p->memory_mib = samples_median(samples, offsetof(struct launch_result, memory_mib));
    p->growth_mib = samples_median(samples, offsetof(struct launch_result, growth_mib));
}

/* The rank that most launches call the last, and how often it was in those. */
static void set_last_rank(struct point_summary *p, const struct samples *time)
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

static void measure(struct point_summary *p, const struct spec *spec, const struct samples *time,
                    const struct samples *accuracy)
{
    p->launches = time->n;
    p->foreign_pct = samples_median(time, offsetof(struct launch_result, foreign_pct));
    p->batch_per_rank =
        samples_median(time->n ? time : accuracy, offsetof(struct launch_result, batch_per_rank));
    p->step_ms = step_interval(time);
    p->precision_met = p->step_ms.met && 100 * stats_relative_half_width(&p->step_ms) <=
                                             config_number(&spec->config, OPT_TIME_PRECISION);
    set_shares(p, time);
    set_rates(p, time);
    set_memory(p, time, accuracy);
    set_last_rank(p, time);
    p->test_acc_pct = samples_median(accuracy, offsetof(struct launch_result, test_acc_pct));
}

/* ---- Points ---- */

static enum status summarise(struct summary *s, size_t i, const struct journal *journal,
                             struct error *e)
{
    struct point_summary *p = &s->points[i];
    struct samples time = {0}, accuracy = {0};
    point_take(p, s->spec, i);
    enum status status = samples_take(&time, s, journal, p, RUN_TIME, e);
    if (status == OK)
        status = samples_take(&accuracy, s, journal, p, RUN_ACCURACY, e);
    if (status == OK) {
        measure(p, s->spec, &time, &accuracy);
        p->failed_launches = count_failures(p, s, journal);
        point_judge(p, s, journal, &time, &accuracy);
        set_flags(p, point_is_oversubscribed(p->point, s->usable_cores) == 1, &time);
    }
    samples_free(&time);
    samples_free(&accuracy);
    return status;
}

static enum status compare_and_write(struct summary *s, size_t i, const struct journal *journal,
                                     struct error *e)
{
    struct point_summary *p = &s->points[i];
    struct samples time = {0}, accuracy = {0}, base = {0}, peer = {0}, alone = {0};
    enum status status = samples_take(&time, s, journal, p, RUN_TIME, e);
    if (status == OK)
        status = samples_take(&accuracy, s, journal, p, RUN_ACCURACY, e);
    if (status == OK)
        status = samples_take(&base, s, journal, &s->points[p->base], RUN_TIME, e);
    if (status == OK && p->peer != i)
        status = samples_take(&peer, s, journal, &s->points[p->peer], RUN_TIME, e);
    if (status == OK && p->alone != i)
        status = samples_take(&alone, s, journal, &s->points[p->alone], RUN_TIME, e);
    if (status == OK) {
        ratios_set(p, s, &time, &base, &alone, &peer);
        status = overlap_bound(&p->overlap_bound, p->point, &time, &alone, e);
    }
    if (status == OK)
        status = cells_fill(p, s, &time, &accuracy, e);
    samples_free(&time);
    samples_free(&accuracy);
    samples_free(&base);
    samples_free(&peer);
    samples_free(&alone);
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
