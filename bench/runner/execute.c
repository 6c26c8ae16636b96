/* One launch of a campaign, from its folder to its line in the journal. */
#include <errno.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "bench/collect/collect.h"
#include "bench/place/view.h"
#include "bench/runner/campaign.h"
#include "bench/runner/launch.h"
#include "bench/runner/log_tail.h"
#include "kernels/base/mem.h"
#include "kernels/base/text.h"

/* Folders are numbered by the journal: an interrupted launch keeps its own. */
static void name_launch(const struct campaign *c, const struct next_launch *next,
                        struct journal_launch *l)
{
    const char *id = c->spec.points[next->point].id;
    *l = (struct journal_launch){.run = next->run,
                                 .block = next->block,
                                 .seed = next->seed,
                                 .shares_cores = c->cores_state == CORES_UNLOCKABLE,
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

/* By ranges: strspn makes a table at each call, and a plan of thousands of points prints a million
 * words. */
static bool is_plain(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '+' && c <= ':') || c == '=' ||
           c == '_' || c == '%' || c == '@'; /* + , - . / digits : */
}

static void print_word(FILE *out, const char *word)
{
    size_t n = 0;
    while (is_plain(word[n]))
        n++;
    if (n > 0 && word[n] == '\0') {
        fputs(word, out);
        return;
    }
    fputc('\'', out);
    for (; *word; word++)
        if (*word == '\'')
            fputs("'\\''", out);
        else
            fputc(*word, out);
    fputc('\'', out);
}

void campaign_print_command(FILE *out, const struct site_launch *launch)
{
    if (launch->environment[0] != NULL)
        fputs("env ", out);
    for (char **word = launch->environment; *word != NULL; word++) {
        print_word(out, *word);
        fputc(' ', out);
    }
    for (char **word = launch->argv; *word != NULL; word++) {
        print_word(out, *word);
        fputc(word[1] != NULL ? ' ' : '\n', out);
    }
}

static enum status write_command(FILE *out, const void *arg, struct error *e)
{
    campaign_print_command(out, arg);
    return OK;
}

/* Waits for the end of a launch, passing on Ctrl-C: once for SIGTERM, twice for SIGKILL. One whose
 * results have nowhere to go is stopped. */
static struct launch_outcome watch(struct campaign *c, struct launch *launch)
{
    struct pollfd fds[2] = {{.fd = launch->lifeline, .events = POLLIN},
                            {.fd = c->interrupt.fd, .events = POLLIN}};
    while (fds[0].revents == 0) {
        poll(fds, 2, 1000);
        if ((fds[1].revents && interrupt_look(&c->interrupt)) ||
            journal_check(&c->journal, NULL) != OK)
            launch_stop(launch);
        owner_sign(&c->owner);
        progress_tick(&c->progress);
    }
    return launch_finish(launch);
}

static void judge_exit(const struct launch_outcome *outcome, const char *log,
                       struct journal_launch *l)
{
    char words[300];
    int status = outcome->wait_status;
    log_tail(log, words, sizeof words);
    l->status = LAUNCH_FAILED;
    l->exit_status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    if (WIFSIGNALED(status))
        snprintf(l->reason, sizeof l->reason, "killed by signal %d (%s)%s%s", WTERMSIG(status),
                 strsignal(WTERMSIG(status)), *words ? ": " : "", words);
    else
        snprintf(l->reason, sizeof l->reason, "exit status %d%s%s", WEXITSTATUS(status),
                 *words ? ": " : "", words);
}

/* A launch that ended well counts only with the records of all its ranks; one that ran on something
 * else than those before ends the campaign. */
static enum status judge_records(const struct campaign *c, const struct point *point,
                                 const char *folder, struct journal_launch *l, struct error *e)
{
    struct launch_result *result;
    TRY(MEM_NEW(result, 1, "the results of a launch", e));
    struct error why = {0};
    enum status status = launch_take(folder, point, l->wall_s, result, &why);
    l->status = status != OK ? LAUNCH_FAILED : result->diverged[0] ? LAUNCH_DIVERGED : LAUNCH_OK;
    if (l->status == LAUNCH_DIVERGED)
        launch_diverged_text(l->reason, sizeof l->reason, result);
    if (status == OK && l->run == RUN_TIME) {
        l->step_ms = result->step_ms;
        l->images = result->global_batch;
        l->comm_replay_ms = result->comm_replay_ms;
    }
    enum status same = status == OK ? workloads_check(&c->workloads, point, result, e) : OK;
    free(result);
    TRY(same);
    if (status == ERR_DATA) {
        const char *file = strrchr(why.file, '/');
        snprintf(l->reason, sizeof l->reason, "%s%.100s%s%.300s",
                 launch_has_records(folder, point) ? "records: " : "", file != NULL ? file + 1 : "",
                 file != NULL ? ": " : "", why.text);
        status = OK;
    }
    if (status != OK)
        *e = why;
    return status;
}

static void add_not_killed(const struct launch_outcome *outcome, struct journal_launch *l)
{
    size_t n = strlen(l->reason);
    if (outcome->not_killed > 0)
        snprintf(l->reason + n, sizeof l->reason - n,
                 "%s%d of its processes could not be killed and still run", n > 0 ? "; " : "",
                 outcome->not_killed);
}

static enum status judge(const struct campaign *c, const struct next_launch *next,
                         const struct launch_outcome *outcome, const char *folder,
                         struct journal_launch *l, struct error *e)
{
    char log[PATH_BYTES], limit[TEXT_NUMBER];
    enum status status = OK;
    l->status = LAUNCH_FAILED;
    l->wall_s = outcome->wall_s;
    TRY(path_format(log, e, "%s/log.txt", folder));
    if (outcome->cause == CAUSE_LIMIT) {
        l->status = LAUNCH_TIMEOUT;
        text_duration(limit, config_number(&c->spec.config, OPT_POINT_LIMIT));
        snprintf(l->reason, sizeof l->reason, "not done within measure.limit (%s)", limit);
    } else if (outcome->cause != CAUSE_ENDED) {
        snprintf(l->reason, sizeof l->reason, "the guard process of this launch was killed");
    } else if (WIFEXITED(outcome->wait_status) && WEXITSTATUS(outcome->wait_status) == 0) {
        status = judge_records(c, &c->spec.points[next->point], folder, l, e);
    } else {
        judge_exit(outcome, log, l);
    }
    add_not_killed(outcome, l);
    return status;
}

/* What a launch will take: as long as the last one of its point, else as the last of all. The first
 * of a campaign is taken for long. */
static double expected_wall_s(const struct launch_points *points, size_t point)
{
    double own_s = points->points[point].last_s;
    if (own_s > 0)
        return own_s;
    return points->last_s > 0 ? points->last_s : INFINITY;
}

static void take_noise(struct journal_launch *l, const struct view *before,
                       const struct view *after, const struct launch_outcome *outcome)
{
    bool known = before->known && after->known;
    l->foreign_pct = known ? load_foreign_pct(&before->load, &after->load, outcome->cpu_s) : NAN;
    l->noise = (struct launch_noise){
        .steal_pct = known ? load_steal_pct(&before->load, &after->load) : NAN,
        .run_switches_voluntary = outcome->switches_voluntary,
        .run_switches_involuntary = outcome->switches_involuntary,
        .run_faults_minor = outcome->faults_minor,
        .run_faults_major = outcome->faults_major,
        .work_before_us = before->probe.work_us,
        .work_after_us = after->probe.work_us,
        .mhz = after->probe.mhz,
    };
}

/* Runs the command and looks at the processors of its plan before and after. */
static enum status run_command(struct campaign *c, const struct place_plan *plan,
                               const struct launch_command *command, double expected_s,
                               struct launch_outcome *outcome, struct journal_launch *l,
                               struct error *e)
{
    struct launch launch;
    struct view before = {.known = false}, after = {.known = false};
    struct core_locks *own;
    TRY(MEM_NEW(own, 1, "a launch", e));
    enum status status = core_locks_add(own, plan, e);
    double probe_s = status == OK ? probe_seconds(expected_s, own->cpus, CPUS_MAX) : 0;
    if (status == OK)
        view_before(&before, own->cpus, CPUS_MAX, probe_s);
    THEN(status, launch_start(&launch, command, e));
    if (status == OK) {
        *outcome = watch(c, &launch);
        view_after(&after, own->cpus, CPUS_MAX, outcome->cause == CAUSE_ENDED ? probe_s : 0);
        take_noise(l, &before, &after, outcome);
    }
    free(own);
    return status;
}

/* Makes the launch's folder with its command line, starts it and waits. */
static enum status run_prepared(struct campaign *c, const struct site_launch *prepared,
                                const char *folder, double expected_s,
                                struct launch_outcome *outcome, struct journal_launch *l,
                                struct error *e)
{
    char path[PATH_BYTES];
    TRY(folder_make(folder, e));
    TRY(path_format(path, e, "%s/command.txt", folder));
    TRY(file_write(path, write_command, prepared, e));
    TRY(path_format(path, e, "%s/log.txt", folder));
    struct launch_command command = {.argv = prepared->argv,
                                     .environment = prepared->environment,
                                     .log = path,
                                     .limit_s = config_number(&c->spec.config, OPT_POINT_LIMIT),
                                     .cleanup = prepared->cleanup};
    return run_command(c, &prepared->plan, &command, expected_s, outcome, l, e);
}

static enum status launch_in(struct campaign *c, const struct next_launch *next, const char *folder,
                             struct launch_outcome *outcome, struct journal_launch *l,
                             struct error *e)
{
    struct site_launch prepared;
    const struct point *point = &c->spec.points[next->point];
    double expected_s = expected_wall_s(&c->order.points, next->point);
    TRY(site_ready(&c->netns, &point->config, e));
    TRY(campaign_prepare_launch(c, point, next->run, next->seed, folder, &prepared, e));
    enum status status = run_prepared(c, &prepared, folder, expected_s, outcome, l, e);
    site_launch_free(&prepared);
    return status;
}

/* Nothing is started where nobody knows yet how long computing takes. */
static bool lacks_calibration(const struct campaign *c, const struct next_launch *next,
                              struct journal_launch *l)
{
    const struct point *point = &c->spec.points[next->point];
    if (next->run != RUN_TIME || point->calibration_index == next->point ||
        campaign_calibration(c, point) != NULL)
        return false;
    l->status = LAUNCH_FAILED;
    snprintf(
        l->reason, sizeof l->reason,
        "compute: replay has no times to let pass: no launch of its calibration (%s) has ended "
        "well",
        c->spec.points[point->calibration_index].label);
    return true;
}

enum status campaign_execute(struct campaign *c, const struct next_launch *next, struct error *e)
{
    struct journal_launch l;
    struct launch_outcome outcome = {0};
    char folder[PATH_BYTES];
    name_launch(c, next, &l);
    TRY(facts_key(l.key, c->facts, &c->spec.points[next->point], e));
    TRY(path_format(folder, e, "%s/%s", c->run_dir, l.launch));
    TRY(programs_check(&c->programs, e));
    TRY(journal_running(&c->journal, &l, e));
    if (lacks_calibration(c, next, &l))
        return journal_done(&c->journal, &l, e);
    TRY(launch_in(c, next, folder, &outcome, &l, e));
    TRY(journal_check(&c->journal, e));
    TRY(programs_check(&c->programs, e));
    /* The stopped launch has no end in the journal: it does not count and is run again. */
    if (outcome.cause == CAUSE_STOPPED)
        return error_set(e, ERR_INTERRUPTED, "interrupted");
    TRY(judge(c, next, &outcome, folder, &l, e));
    return journal_done(&c->journal, &l, e);
}
