#include "bench/runner/status.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bench/order/launch_order.h"
#include "bench/runner/owner.h"
#include "kernels/base/mem.h"
#include "kernels/base/text.h"

struct reading {
    struct spec spec;
    struct journal journal;
    struct launch_order order;
    size_t *failed; /* [n_points] for each point, number of failed launches that are neither retried
                       nor repeated successfully */
};

static void count_failures(struct reading *r, const struct journal_places *places)
{
    for (size_t i = 0; i < r->journal.n_launches; i++) {
        const struct journal_launch *l = &r->journal.launches[i];
        size_t point = spec_find_point(&r->spec, l->point);
        if (point < r->spec.n_points && !l->outdated)
            r->failed[point] +=
                launch_has_failed(l) && !l->retried && !journal_place_is_filled(places, l);
    }
}

/* Returns whether the point needs no more launches. The minimum of measure.time.launches suffices
 * if the point is as precise as required. */
static bool is_done(const struct reading *r, size_t point, const struct point_launches *p)
{
    const struct value *launches = &r->spec.config.values[OPT_TIME_LAUNCHES];
    size_t seeds = config_wants_accuracy(&r->spec.points[point].config)
                       ? r->spec.config.values[OPT_ACCURACY_SEEDS].n
                       : 0;
    if (r->journal.finished || p->diverged)
        return true;
    bool enough = p->n_timings >= launches->number_hi ||
                  (p->n_timings >= launches->number &&
                   launch_points_is_precise(&r->order.points, r->spec.points[point].twin));
    return enough && p->ended[RUN_ACCURACY] >= seeds;
}

/* Counts the spec's points by state, and adds their ids to s->run.points, a checksum of the set of
 * points. Equal points (twins) share their launches. */
static void count_points(struct run_status *s, const struct reading *r)
{
    s->points = r->spec.n_points;
    for (size_t i = 0; i < s->points; i++) {
        s->run.points += strtoull(r->spec.points[i].id, NULL, 16);
        size_t twin = r->spec.points[i].twin;
        const struct point_launches *p = &r->order.points.points[twin];
        s->precise += launch_points_is_precise(&r->order.points, twin);
        if (r->failed[twin] > 0)
            s->points_failed++;
        else if (p->skipped && p->n_timings + p->ended[RUN_ACCURACY] == 0)
            s->points_skipped++;
        else if (is_done(r, i, p))
            s->points_done++;
        else
            s->points_left++;
    }
}

static void count_launch(struct run_status *s, const struct journal_launch *l)
{
    bool ended = l->status != LAUNCH_RUNNING;
    s->outdated += ended && l->outdated;
    if (l->outdated)
        return;
    s->done += ended && !l->retried;
    s->failed += launch_has_failed(l);
    s->interrupted += !ended;
}

static enum status count_launches(struct run_status *s, const struct reading *r, struct error *e)
{
    const struct journal *j = &r->journal;
    const char **kept;
    size_t n = 0;
    TRY(MEM_NEW(kept, j->n_launches, "the launches of a run", e));
    for (size_t i = 0; i < j->n_launches; i++) {
        const struct journal_launch *l = &j->launches[i];
        if (spec_find_point(&r->spec, l->point) < r->spec.n_points)
            count_launch(s, l);
        else if (l->status != LAUNCH_RUNNING)
            kept[n++] = l->point;
    }
    s->kept = n;
    s->kept_points = text_count_distinct(kept, n);
    free(kept);
    return OK;
}

static double seconds_since(const char *at)
{
    struct tm utc = {0};
    if (strptime(at, "%Y-%m-%dT%H:%M:%SZ", &utc) == NULL)
        return NAN;
    return fmax(0, difftime(time(NULL), timegm(&utc))); /* 0 if the clock was set back */
}

/* Sets the launch that is running now. Only the journal's last launch can be running. */
static void take_running(struct run_status *s, const struct reading *r)
{
    const struct journal *j = &r->journal;
    if (!s->owner[0] || j->n_launches == 0 ||
        j->launches[j->n_launches - 1].status != LAUNCH_RUNNING)
        return;
    s->launch = j->launches[j->n_launches - 1];
    size_t point = spec_find_point(&r->spec, s->launch.point);
    if (point >= r->spec.n_points)
        return;
    s->running = true;
    s->interrupted--;
    s->running_s = seconds_since(s->launch.at);
    snprintf(s->label, sizeof s->label, "%s", r->spec.points[point].label);
}

/* Sets s->owner to process, host and start time of the run's runner; "": no runner is alive. */
static void find_owner(struct run_status *s)
{
    if (!folder_has(s->run.path, "runner"))
        return;
    owner_read(s->run.path, s->owner);
    if (!owner_lives(s->run.path, s->owner))
        s->owner[0] = '\0';
    s->owner[strcspn(s->owner, ",")] = '\0';
}

static enum status find_failures(struct reading *r, struct error *e)
{
    struct journal_places places = {.n = 0};
    TRY(MEM_NEW(r->failed, r->spec.n_points, "the points of a run", e));
    enum status status = journal_places_open(&places, &r->journal, e);
    if (status == OK)
        count_failures(r, &places);
    journal_places_close(&places);
    return status;
}

static enum status count(struct run_status *s, struct reading *r, struct error *e)
{
    TRY(find_failures(r, e));
    TRY(launch_order_open(&r->order, &r->spec, &r->journal, s->run.path, 0, e));
    count_points(s, r);
    TRY(count_launches(s, r, e));
    take_running(s, r);
    struct launch_forecast f = launch_order_forecast(&r->order);
    s->left = r->journal.finished ? 0 : f.left;
    s->left_s = s->done > 0 ? f.left_s : NAN;
    s->at_most = f.at_most;
    s->state = s->owner[0] ? RUN_GOING : r->journal.finished ? RUN_FINISHED : RUN_INTERRUPTED;
    return OK;
}

static enum status read_run(struct run_status *s, struct reading *r,
                            const struct spec_machine *machine, struct error *e)
{
    char path[PATH_BYTES];
    TRY(path_format(path, e, "%s/spec.yaml", s->run.path));
    TRY(spec_load(&r->spec, path, NULL, machine, e));
    if (!folder_has(s->run.path, "journal.jsonl"))
        return error_set(e, ERR_DATA,
                         "journal.jsonl not found: this may be a copy with tables only");
    TRY(journal_open(&r->journal, s->run.path, false, e));
    find_owner(s);
    return count(s, r, e);
}

static void format_error(char *text, size_t size, const struct error *e)
{
    char line[16] = "";
    if (e->line > 0)
        snprintf(line, sizeof line, ":%d", e->line);
    snprintf(text, size, "%.240s%s%s%.240s", e->file, line, e->file[0] ? ": " : "", e->text);
}

enum status run_status_read(struct run_status *status, const char *run_dir,
                            const struct spec_machine *machine, struct error *e)
{
    struct reading r = {.journal.fd = -1};
    struct error why = {.status = OK};
    *status = (struct run_status){.left_s = NAN};
    run_read(&status->run, run_dir);
    enum status read = read_run(status, &r, machine, &why);
    launch_order_close(&r.order);
    journal_close(&r.journal);
    spec_free(&r.spec);
    free(r.failed);
    if (read == ERR_MEMORY) {
        *e = why;
        return read;
    }
    if (read != OK) {
        status->state = RUN_UNREADABLE;
        format_error(status->why, sizeof status->why, &why);
    }
    return OK;
}

void run_status_free(struct run_status *status)
{
    run_free(&status->run);
}
