/* Runs one launch of a campaign: from creating its folder to writing its result to the journal. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "bench/collect/collect.h"
#include "bench/runner/supervisor.h"
#include "kernels/base/mem.h"
#include "kernels/base/text.h"

/* Names the launch's folder. The number in the name comes from the journal, so that no later launch
 * overwrites the folder of an interrupted launch. */
static void name_launch(struct execution *x)
{
    const struct next_launch *next = x->next;
    struct journal_launch *l = &x->l;
    const char *id = x->point->id;
    *l = (struct journal_launch){.run = next->run,
                                 .block = next->block,
                                 .seed = next->seed,
                                 .shares_cores = x->c->cores_state == CORES_UNLOCKABLE,
                                 .foreign_pct = NAN,
                                 .exit_status = -1,
                                 .step_ms = NAN,
                                 .images = NAN,
                                 .comm_replay_ms = NAN};
    snprintf(l->point, sizeof l->point, "%s", id);
    if (next->run == RUN_TIME)
        snprintf(l->launch, sizeof l->launch, "launches/%s/time-%03d", id, next->number);
    else
        snprintf(l->launch, sizeof l->launch, "launches/%s/seed%llu-%03d", id,
                 (unsigned long long)next->seed, next->number);
}

/* If ranks measured the load on their own nodes, stores this load in place of the load that the
 * runner measured. */
static void take_noise(struct journal_launch *l, const struct launch_result *result)
{
    if (isnan(result->foreign_pct))
        return;
    l->foreign_pct = result->foreign_pct;
    l->noise.steal_pct = result->steal_pct;
}

/* Sets the status and results of a launch that ended well, from its records. The launch fails if
 * records are missing or not valid. Returns ERR_DATA, which ends the campaign, if the program's
 * libraries or data changed during the campaign. */
static enum status judge_records(struct execution *x, struct error *e)
{
    struct journal_launch *l = &x->l;
    struct launch_result *result;
    TRY(MEM_NEW(result, 1, "the results of a launch", e));
    struct error why = {0};
    enum status status = launch_take(x->folder, x->point, l->wall_s, result, &why);
    l->status = status != OK ? LAUNCH_FAILED : result->diverged[0] ? LAUNCH_DIVERGED : LAUNCH_OK;
    if (l->status == LAUNCH_DIVERGED)
        launch_diverged_text(l->reason, sizeof l->reason, result);
    if (status == OK && l->run == RUN_TIME) {
        l->step_ms = result->step_ms;
        l->images = result->global_batch;
        l->comm_replay_ms = result->comm_replay_ms;
    }
    if (status == OK)
        take_noise(l, result);
    enum status same = status == OK ? workloads_check(&x->c->workloads, x->point, result, e) : OK;
    free(result);
    TRY(same);
    if (status == ERR_DATA) {
        const char *file = strrchr(why.file, '/');
        snprintf(l->reason, sizeof l->reason, "%s%.100s%s%.300s",
                 launch_has_records(x->folder, x->point) ? "records: " : "",
                 file != NULL ? file + 1 : "", file != NULL ? ": " : "", why.text);
        status = OK;
    }
    if (status != OK)
        *e = why;
    return status;
}

static void add_not_killed(struct execution *x)
{
    char *reason = x->l.reason;
    size_t n = strlen(reason);
    if (x->outcome.not_killed > 0)
        snprintf(reason + n, sizeof x->l.reason - n,
                 "%s%d of its processes could not be killed and still run", n > 0 ? "; " : "",
                 x->outcome.not_killed);
}

static enum status judge(struct execution *x, struct error *e)
{
    const struct launch_outcome *outcome = &x->outcome;
    struct journal_launch *l = &x->l;
    char log[PATH_BYTES];
    enum status status = OK;
    l->status = outcome->cause == CAUSE_LIMIT ? LAUNCH_TIMEOUT : LAUNCH_FAILED;
    l->wall_s = outcome->wall_s;
    TRY(path_format(log, e, "%s/log.txt", x->folder));
    if (launch_ended_well(outcome)) {
        status = judge_records(x, e);
    } else {
        bool exited = outcome->cause == CAUSE_ENDED && WIFEXITED(outcome->wait_status);
        l->exit_status = exited ? WEXITSTATUS(outcome->wait_status) : -1;
        attempt_reason(l->reason, sizeof l->reason, x->c, outcome, log);
    }
    add_not_killed(x);
    return status;
}

/* Returns the expected wall time of a launch (s): the time of the last ended launch of the point,
 * else of any point; INFINITY if none has ended. Outdated launches do not count. */
static double expected_wall_s(const struct launch_points *points, size_t point)
{
    double own_s = points->points[point].last_s;
    if (own_s > 0)
        return own_s;
    return points->last_s > 0 ? points->last_s : INFINITY;
}

static enum status launch_once(struct execution *x, struct error *e)
{
    struct site_launch prepared;
    const struct config *config = &x->point->config;
    TRY(site_ready(&x->c->netns, config, e));
    TRY(campaign_prepare_launch(x->c, x->point, x->next->run, x->next->seed, x->folder, &prepared,
                                e));
    enum status status =
        attempt_run(x, config, &prepared, config_number(&x->c->spec.config, OPT_POINT_LIMIT), e);
    site_launch_free(&prepared);
    return status;
}

/* Returns whether a launch must replay op times that no calibration launch has measured yet. If so,
 * marks the launch as failed. */
static bool lacks_calibration(struct execution *x)
{
    size_t calibration = x->point->calibration_index;
    if (x->next->run != RUN_TIME || calibration == x->next->point ||
        campaign_calibration(x->c, x->point) != NULL)
        return false;
    x->l.status = LAUNCH_FAILED;
    snprintf(x->l.reason, sizeof x->l.reason,
             "compute: replay has no op times: no launch of its calibration (%s) has ended well",
             x->c->spec.points[calibration].label);
    return true;
}

enum status campaign_execute(struct campaign *c, const struct next_launch *next, struct error *e)
{
    char folder[PATH_BYTES];
    struct execution x = {.c = c,
                          .next = next,
                          .point = &c->spec.points[next->point],
                          .folder = folder,
                          .expected_s = expected_wall_s(&c->order.points, next->point)};
    name_launch(&x);
    TRY(facts_key(x.l.key, c->facts, x.point, e));
    TRY(path_format(folder, e, "%s/%s", c->run_dir, x.l.launch));
    TRY(programs_check(&c->programs, e));
    TRY(journal_running(&c->journal, &x.l, e));
    if (lacks_calibration(&x))
        return journal_done(&c->journal, &x.l, e);
    bool elastic = next->run == RUN_ACCURACY && config_is_elastic(&x.point->config);
    TRY(elastic ? supervisor_run(&x, e) : launch_once(&x, e));
    TRY(journal_check(&c->journal, e));
    TRY(programs_check(&c->programs, e));
    /* A launch that fails after a signal counts as interrupted, since the signal may have killed
     * its processes. Resume runs the launch again. */
    bool failed = interrupt_came(&c->interrupt) && !launch_ended_well(&x.outcome);
    if (x.outcome.cause == CAUSE_STOPPED || failed)
        return error_set(e, ERR_INTERRUPTED, "interrupted");
    if (x.outcome.gone)
        return error_set(e, ERR_UNAVAILABLE,
                         "the job of this campaign has ended, so its nodes are no longer "
                         "available. Run the same command in another job to resume");
    TRY(judge(&x, e));
    if (!launch_is_done(&x.l))
        text_join(x.l.reason, sizeof x.l.reason, "", x.after);
    return journal_done(&c->journal, &x.l, e);
}
