/* Runs the remaining launches of a campaign, one by one. */
#include <inttypes.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bench/base/log.h"
#include "bench/place/leftovers.h"
#include "bench/place/load.h"
#include "bench/runner/campaign.h"
#include "bench/runner/trial.h"
#include "kernels/base/clock.h"
#include "kernels/base/mem.h"

/* Load by other processes (%) above which a warning is printed. Smaller values can be chance: the
 * load is measured for 0.1 s in ticks of 0.01 s. */
#define LOAD_NOTED_PCT 25.0

/* Records in the journal which of the skipped points can run now. */
static enum status journal_recoveries(struct campaign *c, struct error *e)
{
    for (size_t k = c->journal.n_skips; k-- > 0;) {
        size_t i = spec_find_point(&c->spec, c->journal.skips[k].point);
        if (i >= c->spec.n_points || c->refusals[i][0])
            continue;
        TRY(journal_able(&c->journal, c->spec.points[i].id, e));
        k = c->journal.n_skips;
    }
    return OK;
}

static enum status journal_refusals(struct campaign *c, struct error *e)
{
    enum status status = OK;
    size_t n = c->spec.n_points;
    bool *known;
    TRY(MEM_NEW(known, n + 1, "the points of a campaign", e));
    for (size_t k = 0; k < c->journal.n_skips; k++)
        known[spec_find_point(&c->spec, c->journal.skips[k].point)] = true;
    for (size_t i = 0; status == OK && i < n; i++)
        if (c->spec.points[i].twin == i && !known[i] && c->refusals[i][0])
            status = journal_skipped(&c->journal, c->spec.points[i].id, c->refusals[i], e);
    free(known);
    return status;
}

/* Sets keys[i] to the current key of point i in the journal (journal.h); "": none. Points outside
 * the spec all write their key to the spare element keys[n_points], which is not used. */
static void list_keys(const struct campaign *c, const char **keys)
{
    const struct journal *j = &c->journal;
    for (size_t i = 0; i <= c->spec.n_points; i++)
        keys[i] = "";
    for (size_t i = 0; i < j->n_launches; i++)
        if (j->launches[i].key[0])
            keys[spec_find_point(&c->spec, j->launches[i].point)] = j->launches[i].key;
    for (size_t i = 0; i < j->n_keys; i++)
        keys[spec_find_point(&c->spec, j->keys[i].point)] = j->keys[i].key;
}

/* Writes to the journal the new key of each point whose peer program (by other authors) has
 * changed. A change of any other program begins a new run. */
static enum status journal_changes(struct campaign *c, const char **keys, struct error *e)
{
    char key[FACTS_KEY_BYTES];
    list_keys(c, keys);
    for (size_t i = 0; i < c->spec.n_points; i++) {
        const struct point *point = &c->spec.points[i];
        if (point->twin != i || !config_is_peer(&point->config) || c->refusals[i][0] || !keys[i][0])
            continue;
        TRY(facts_key(key, c->facts, point, e));
        if (strcmp(key, keys[i]) != 0)
            TRY(journal_key(&c->journal, point->id, key, e));
    }
    return OK;
}

enum status campaign_record_changes(struct campaign *c, struct error *e)
{
    const char **keys;
    TRY(MEM_NEW(keys, c->spec.n_points + 1, "the points of a campaign", e));
    enum status status = journal_changes(c, keys, e);
    free(keys);
    return status;
}

/* Marks the failed launches of the spec's points as retried, except outdated launches. Adds to
 * *retried the number of marked launches that no later launch replaces. */
static enum status retry_failures(struct campaign *c, const struct journal_places *places,
                                  size_t *retried, struct error *e)
{
    for (size_t i = 0; i < c->journal.n_launches; i++) {
        const struct journal_launch *l = &c->journal.launches[i];
        if (!launch_has_failed(l) || l->retried || l->outdated ||
            spec_find_point(&c->spec, l->point) >= c->spec.n_points)
            continue;
        *retried += !journal_place_is_filled(places, l);
        TRY(journal_retry(&c->journal, l->launch, e));
    }
    return OK;
}

enum status campaign_retry_failures(struct campaign *c, size_t *retried, struct error *e)
{
    struct journal_places places = {.n = 0};
    *retried = 0;
    enum status status = journal_places_open(&places, &c->journal, e);
    THEN(status, retry_failures(c, &places, retried, e));
    journal_places_close(&places);
    return status;
}

static void announce(struct campaign *c, const struct next_launch *next)
{
    struct launch_forecast f = launch_order_forecast(&c->order);
    char what[256];
    const char *label = c->spec.points[next->point].label;
    if (next->run == RUN_TIME)
        snprintf(what, sizeof what, "%s  launch %" PRIu32, label,
                 c->order.points.points[next->point].n_timings + 1);
    else
        snprintf(what, sizeof what, "%s  accuracy, seed %llu", label,
                 (unsigned long long)next->seed);
    size_t left =
        f.left > 0 ? f.left : 1; /* count at least the current launch, which the forecast may
                                    omit */
    progress_next(&c->progress, f.done + 1, f.done + left, what, f.left_s, f.at_most);
}

/* time (ns) after which the message about waiting for cores is repeated */
#define AGAIN_NS (30 * INT64_C(1000000000))

static void report_wait(const struct error *why, double waited_s)
{
    char so_far[48] = "";
    if (waited_s >= 1)
        snprintf(so_far, sizeof so_far, " (%.0f s so far)", waited_s);
    log_print(
        LOG_NOTE,
        "%s; waiting until the other campaign ends%s. Stop one of the two campaigns, or start this "
        "campaign on other cores (taskset -c)",
        why->text, so_far);
}

/* Waits until no other campaign measures on this campaign's cores, then locks them. If locking is
 * not possible, prints a warning; the measured points then get the flag shares_cores. */
static enum status lock_cores(struct campaign *c, struct error *e)
{
    char who[512];
    int64_t begin = clock_ns(), next = begin;
    snprintf(who, sizeof who, "%s (%.100s)", c->owner.name, config_text(&c->spec.config, OPT_NAME));
    for (;;) {
        struct error why = {0};
        enum status status = core_locks_take(&c->cores, who, &why);
        c->cores_state = status == OK ? CORES_LOCKED : CORES_UNLOCKABLE;
        if (status == ERR_SYSTEM)
            log_print(LOG_WARNING,
                      "%s%s%s; without locks, another campaign may measure on the same cores. Set "
                      "SCALEBENCH_LOCKS to a folder for lock files",
                      why.file, why.file[0] ? ": " : "", why.text);
        if (status != ERR_UNAVAILABLE)
            return OK;
        if (clock_ns() >= next) {
            report_wait(&why, clock_seconds_since(begin));
            next += AGAIN_NS;
        }
        poll(&(struct pollfd){.fd = c->interrupt.fd, .events = POLLIN}, 1, 200);
        owner_sign(&c->owner);
        if (interrupt_came(&c->interrupt))
            return error_set(e, ERR_INTERRUPTED, "interrupted");
    }
}

/* Before the first launch, prints a warning if other processes are busy on this campaign's
 * processors. Load during a launch is recorded with the launch. */
static void warn_of_load(const struct campaign *c)
{
    const struct timespec moment = {.tv_nsec = 100000000};
    struct load before, after;
    double average = 0;
    if (!load_read(&before, c->cores.cpus, CPUS_MAX) || nanosleep(&moment, NULL) != 0 ||
        !load_read(&after, c->cores.cpus, CPUS_MAX))
        return;
    double foreign_pct = load_foreign_pct(&before, &after, 0);
    if (foreign_pct > LOAD_NOTED_PCT && getloadavg(&average, 1) == 1)
        log_print(LOG_WARNING,
                  "this machine is busy: other processes use %.0f %% of the processors of this "
                  "campaign (load average %.1f). Points measured while the machine is busy are "
                  "flagged",
                  foreign_pct, average);
}

/* Returns whether the previous launch of l->point in this command also failed for l->reason. The
 * reason has then already been printed. */
static bool repeats_reason(const struct campaign *c, const struct journal_launch *l)
{
    const struct journal_launch *before = l;
    while (before-- > c->journal.launches + c->n_before)
        if (strcmp(before->point, l->point) == 0)
            return !launch_is_done(before) && strcmp(before->reason, l->reason) == 0;
    return false;
}

static void report_failure(struct campaign *c, const struct next_launch *next)
{
    const struct journal_launch *l = &c->journal.launches[c->journal.n_launches - 1];
    const struct point_launches *p = &c->order.points.points[next->point];
    if (launch_is_done(l))
        return;
    progress_clear(&c->progress);
    log_print(LOG_NOTE, "%s: %s: %s (%s/%s)", c->spec.points[next->point].label,
              repeats_reason(c, l) ? "same reason as before" : l->reason,
              !p->failed         ? "will be retried"
              : p->failures == 1 ? "will not be retried"
                                 : "failed again, will not be retried",
              c->run_dir, l->launch);
}

static enum status run_launch(struct campaign *c, const struct next_launch *next, struct error *e)
{
    announce(c, next);
    if (next->n_begins > 0)
        TRY(journal_block(&c->journal, next->block, next->begins, next->n_begins, e));
    TRY(campaign_execute(c, next, e));
    TRY(launch_order_learn(&c->order, e));
    report_failure(c, next);
    return OK;
}

static enum status run_launches(struct campaign *c, struct error *e)
{
    struct next_launch next;
    bool found;
    for (;;) {
        TRY(launch_order_next(&c->order, &next, &found, e));
        if (!found)
            return OK;
        if (c->cores_state == CORES_FREE) {
            TRY(lock_cores(c, e));
            warn_of_load(c);
            TRY(trial_run(c, e));
        }
        TRY(run_launch(c, &next, e));
        if (interrupt_came(&c->interrupt))
            return error_set(e, ERR_INTERRUPTED, "interrupted");
    }
}

static double wall_s(const struct journal *journal)
{
    double sum = 0;
    for (size_t i = 0; i < journal->n_launches; i++)
        sum += journal->launches[i].wall_s;
    return sum;
}

/* Removes shared memory and emulated hosts that an earlier runner left. They are left only if both
 * the runner and its cleanup process (guard) were killed. */
static void clean_up(const struct campaign *c)
{
    leftovers_remove((struct timespec){.tv_sec = c->owner.left_since});
    if (c->netns.hosts > 0)
        netns_sweep(&c->netns);
}

enum status campaign_run(struct campaign *c, struct error *e)
{
    TRY(journal_recoveries(c, e));
    TRY(journal_refusals(c, e));
    if (c->owner.left_since != 0)
        clean_up(c);
    launch_order_close(&c->order); /* an earlier campaign_run may have left the order open */
    TRY(launch_order_open(&c->order, &c->spec, &c->journal, c->run_dir, c->seed, e));
    TRY(interrupt_begin(&c->interrupt, e));
    progress_begin(&c->progress, stderr);
    enum status status = run_launches(c, e);
    netns_down(&c->netns);
    progress_clear(&c->progress);
    interrupt_end(&c->interrupt);
    if (status == OK && !c->journal.finished)
        return journal_finished(&c->journal, wall_s(&c->journal), e);
    return status;
}
