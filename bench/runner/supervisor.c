#include "bench/runner/supervisor.h"

#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>

#include "bench/base/log.h"
#include "bench/record/segments.h"
#include "kernels/base/clock.h"

/* exit statuses of ranks that would fail again if restarted: wrong options or data (2), not
 * possible on this machine (3), program cannot be run (126, 127) */
static const int hopeless[] = {2, 3, 126, 127};

struct supervised {
    struct execution *x;
    const struct point *point;
    int64_t begin_ns;
    char path[PATH_BYTES]; /* path of the file that lists the attempts (starts of the ranks) in all
                              launches of this point and seed */
    struct segments all;
    size_t counted;  /* index of the attempt at which ranks_left starts to count deaths */
    size_t restarts; /* number of times that this launch has restarted its ranks */
    /* [n_nodes] nodes that answered the last query after ranks died; NULL: no query was made, or
     * the site does not support queries */
    int *nodes;
    int n_nodes;
};

static struct attempt *last_of(const struct supervised *s)
{
    return &s->all.attempts[s->all.n - 1];
}

/* ---- The next segment ---- */

/* Returns the first segment that is not done. If all are done, returns the last one: running it
 * again only writes the records. */
static size_t next_segment(const struct supervised *s)
{
    size_t n = config_segments(&s->point->config), next = 0;
    for (size_t i = 0; i < s->all.n; i++)
        if (s->all.attempts[i].end == ATTEMPT_DONE && (size_t)s->all.attempts[i].segment >= next)
            next = (size_t)s->all.attempts[i].segment + 1;
    return next < n ? next : n - 1;
}

static bool has_died(const struct supervised *s)
{
    for (size_t i = 0; i < s->all.n; i++)
        if (s->all.attempts[i].end == ATTEMPT_DIED)
            return true;
    return false;
}

/* Returns the number of ranks that a restart can use; by default, the point's number of ranks. With
 * restart.with = fewer, each attempt in which ranks died (from index s->counted on) costs one rank,
 * and the ranks must fit on the nodes that still answer. */
static int ranks_left(const struct supervised *s)
{
    const struct config *config = &s->point->config;
    int left = (int)config_int(config, OPT_RANKS);
    long nodes = config_int(config, OPT_NODES), on_fullest = (left + nodes - 1) / nodes;
    bool fewer = config_int(config, OPT_RESTART_WITH) == RESTART_fewer;
    for (size_t i = s->counted; i < s->all.n && fewer; i++)
        left -= s->all.attempts[i].end == ATTEMPT_DIED;
    if (fewer && s->nodes != NULL && left > s->n_nodes * on_fullest)
        left = (int)(s->n_nodes * on_fullest);
    return left;
}

/* Returns the number of ranks for a segment. This is the planned number if enough ranks are left.
 * Otherwise it is the largest number, up to the ranks left, that strategy and batch allow; at least
 * 1. */
static int ranks_of(const struct supervised *s, size_t segment)
{
    int planned = config_segment(&s->point->config, segment).ranks, left = ranks_left(s);
    struct error why;
    while (left > 1 && left < planned && !config_runs_on(&s->point->config, left, &why))
        left--;
    return left >= planned ? planned : left > 1 ? left : 1;
}

/* Returns whether too few ranks are left for a restart, with the reason in `text`. */
static bool are_too_few(const struct supervised *s, char *text, size_t size)
{
    const struct config *config = &s->point->config;
    size_t segment = next_segment(s);
    int least = (int)config_int(config, OPT_RESTART_LEAST), left = ranks_left(s);
    int ranks = ranks_of(s, segment), planned = config_segment(config, segment).ranks;
    struct error why;
    if (left < least)
        snprintf(text, size, "; ranks left: %d, restart.min_ranks: %d", left, least);
    else if (ranks < planned && ranks < least)
        snprintf(text, size,
                 "; of %d ranks left, strategy and batch can use %d, restart.min_ranks: %d", left,
                 ranks, least);
    else if (ranks < planned && !config_runs_on(config, ranks, &why))
        snprintf(text, size, "; on %d of the ranks left: %s", ranks, why.text);
    else
        return false;
    return true;
}

/* Returns whether there is a checkpoint of this run. A file older than the run belongs to an
 * earlier run. */
static bool has_checkpoint(const struct supervised *s)
{
    char path[PATH_BYTES + 64];
    struct stat info;
    const struct config *config = &s->point->config;
    snprintf(path, sizeof path, "%s/../seed%llu.safetensors", s->x->folder,
             (unsigned long long)s->x->next->seed);
    return stat(config_names_checkpoint(config) ? config_path(config, OPT_CHECKPOINT_PATH) : path,
                &info) == 0 &&
           (double)info.st_mtime + 1 >= s->all.attempts[0].begin_s;
}

static bool resumes(const struct supervised *s)
{
    bool asked = strcmp(config_text(&s->point->config, OPT_CHECKPOINT_RESUME), "auto") == 0;
    return s->all.n > 1 ? has_checkpoint(s) : asked;
}

static enum status add_attempt(struct supervised *s, size_t segment, const struct config *on,
                               struct error *e)
{
    struct attempt *a;
    TRY(segments_add(&s->all, &a, e));
    snprintf(a->launch, sizeof a->launch, "%s", s->x->l.launch);
    a->segment = (int)segment;
    a->ranks = (int)config_int(on, OPT_RANKS);
    a->nodes = (int)config_int(on, OPT_NODES);
    a->begin_s = clock_date_s();
    return segments_write(&s->all, s->path, e);
}

static double left_s(const struct supervised *s)
{
    double left =
        config_number(&s->x->c->spec.config, OPT_POINT_LIMIT) - clock_seconds_since(s->begin_ns);
    return left > 1 ? left : 1;
}

/* Returns ERR_UNAVAILABLE if nodes were queried (after ranks died) and fewer answered than the
 * segment needs; else OK. */
static enum status check_nodes(const struct supervised *s, const struct config *on, struct error *e)
{
    if (s->nodes == NULL || config_int(on, OPT_NODES) <= s->n_nodes)
        return OK;
    return error_set(e, ERR_UNAVAILABLE,
                     "%s, seed %llu: the next segment needs %ld nodes, but only %d are up after "
                     "ranks died. Run the same command again when all nodes are up",
                     s->point->label, (unsigned long long)s->x->next->seed,
                     config_int(on, OPT_NODES), s->n_nodes);
}

static enum status start(struct supervised *s, const struct point *on, uint32_t until,
                         struct error *e)
{
    struct site_launch prepared;
    const struct campaign_segment segment = {
        .until = until,
        .seed = s->x->next->seed,
        .resumes = resumes(s),
        .omits_kill = config_int(&on->config, OPT_INJECT_KIND) == INJECT_kill && has_died(s),
        .order = s->nodes};
    TRY(site_ready(&s->x->c->netns, &on->config, e));
    TRY(campaign_prepare_segment(s->x->c, on, &segment, s->x->folder, &prepared, e));
    enum status status = attempt_run(s->x, &on->config, &prepared, left_s(s), e);
    site_launch_free(&prepared);
    return status;
}

static enum status end_attempt(struct supervised *s, struct error *e)
{
    const struct launch_outcome *outcome = &s->x->outcome;
    char log[PATH_BYTES];
    struct attempt *a = last_of(s);
    TRY(path_format(log, e, "%s/log.txt", s->x->folder));
    a->end_s = clock_date_s();
    a->end = outcome->cause == CAUSE_STOPPED ? ATTEMPT_STOPPED
             : launch_ended_well(outcome)    ? ATTEMPT_DONE
                                             : ATTEMPT_DIED;
    if (a->end == ATTEMPT_DIED)
        attempt_reason(a->reason, sizeof a->reason, s->x->c, outcome, log);
    attempt_progress_read(&a->progress, s->x->folder);
    return segments_write(&s->all, s->path, e);
}

static enum status run_segment(struct supervised *s, size_t segment, int ranks, struct error *e)
{
    struct point on = *s->point;
    struct segment plan = config_segment(&s->point->config, segment);
    config_on_ranks(&on.config, &s->point->config, ranks);
    TRY(check_nodes(s, &on.config, e));
    TRY(add_attempt(s, segment, &on.config, e));
    TRY(start(s, &on, plan.until, e));
    return end_attempt(s, e);
}

static enum status move_files(const char *to, DIR *from, const char *folder, struct error *e)
{
    char old[PATH_BYTES], new[PATH_BYTES];
    struct stat info;
    for (struct dirent *entry; (entry = readdir(from)) != NULL;) {
        TRY(path_format(old, e, "%s/%s", folder, entry->d_name));
        TRY(path_format(new, e, "%s/%s", to, entry->d_name));
        if (stat(old, &info) == 0 && S_ISREG(info.st_mode) && rename(old, new) != 0)
            return error_at(e, ERR_SYSTEM, old, 0, 0, "cannot be moved: %s", strerror(errno));
    }
    return OK;
}

/* Moves the files of the last attempt to attempt-<NN>/, so that the next attempt does not overwrite
 * them. */
static enum status move_aside(const struct supervised *s, struct error *e)
{
    char aside[PATH_BYTES];
    size_t number = 0;
    for (size_t i = 0; i + 1 < s->all.n; i++)
        number += strcmp(s->all.attempts[i].launch, s->x->l.launch) == 0;
    TRY(path_format(aside, e, "%s/attempt-%02zu", s->x->folder, number));
    TRY(folder_make(aside, e));
    DIR *from = opendir(s->x->folder);
    if (from == NULL)
        return error_at(e, ERR_SYSTEM, s->x->folder, 0, 0, "%s", strerror(errno));
    enum status status = move_files(aside, from, s->x->folder, e);
    closedir(from);
    return status;
}

static bool is_hopeless(const struct launch_outcome *outcome)
{
    if (outcome->cause == CAUSE_STAYED || outcome->cause == CAUSE_NO_START)
        return false; /* a killed launcher's exit status says nothing about the ranks */
    if (outcome->cause != CAUSE_ENDED)
        return true;
    for (size_t i = 0; i < sizeof hopeless / sizeof *hopeless; i++)
        if (WIFEXITED(outcome->wait_status) && WEXITSTATUS(outcome->wait_status) == hopeless[i])
            return true;
    return false;
}

/* Writes the time at which ranks died and, if known, the last step, such as " at
 * 2026-11-23T10:05:00Z, after step 57". */
static void format_death(char text[AFTER_BYTES], const struct attempt *a)
{
    time_t at = (time_t)a->end_s;
    struct tm utc;
    gmtime_r(&at, &utc);
    strftime(text, AFTER_BYTES, " at %Y-%m-%dT%H:%M:%SZ", &utc);
    if (isfinite(a->progress.steps))
        snprintf(text + strlen(text), AFTER_BYTES - strlen(text), ", after step %.0f",
                 a->progress.steps);
}

static enum status ask_nodes(struct supervised *s, struct error *e)
{
    if (config_int(&s->point->config, OPT_NODES) == 1)
        return OK;
    free(s->nodes);
    return campaign_ask_nodes(s->x->c, s->point, &s->nodes, &s->n_nodes, e);
}

/* Returns whether the run can restart after ranks died. Writes the time of death and, if no restart
 * is possible, the reason to x->after. */
static bool may_restart(const struct supervised *s)
{
    char *after = s->x->after;
    const struct config *config = &s->point->config;
    bool fewer = config_int(config, OPT_RESTART_WITH) == RESTART_fewer;
    format_death(after, last_of(s));
    size_t used = strlen(after);
    if (s->restarts >= (size_t)config_int(config, OPT_RESTARTS))
        snprintf(after + used, AFTER_BYTES - used, "; restart.budget = %s is spent",
                 config_text(config, OPT_RESTARTS));
    else if (s->nodes != NULL && s->n_nodes == 0)
        snprintf(after + used, AFTER_BYTES - used, "; none of %d nodes answers", last_of(s)->nodes);
    else if (!fewer && s->nodes != NULL && s->n_nodes < last_of(s)->nodes)
        snprintf(after + used, AFTER_BYTES - used,
                 "; %d of %d nodes answer, and there is no spare one", s->n_nodes,
                 last_of(s)->nodes);
    else
        return !are_too_few(s, after + used, AFTER_BYTES - used);
    return false;
}

static void report_restart(struct supervised *s, int ranks)
{
    progress_clear(&s->x->c->progress);
    log_print(LOG_NOTE, "%s, seed %llu: %s%s: restarting %s on %d rank%s, restart %zu of %s",
              s->point->label, (unsigned long long)s->x->next->seed, last_of(s)->reason,
              s->x->after, has_checkpoint(s) ? "from its checkpoint" : "from the beginning", ranks,
              ranks == 1 ? "" : "s", s->restarts, config_text(&s->point->config, OPT_RESTARTS));
}

static enum status restart(struct supervised *s, bool *may, struct error *e)
{
    TRY(ask_nodes(s, e));
    *may = may_restart(s);
    if (*may) {
        s->restarts++;
        report_restart(s, ranks_of(s, next_segment(s)));
    }
    return OK;
}

/* Runs the next segment. If ranks die, decides whether the segment is restarted. Sets *more if
 * run_next must be called again, for a restart or for another segment. */
static enum status run_next(struct supervised *s, bool *more, struct error *e)
{
    struct launch_outcome *outcome = &s->x->outcome;
    size_t segment = next_segment(s);
    s->x->after[0] = '\0';
    *more = false;
    TRY(run_segment(s, segment, ranks_of(s, segment), e));
    if (interrupt_came(&s->x->c->interrupt))
        outcome->cause = CAUSE_STOPPED;
    if (outcome->cause == CAUSE_STOPPED || outcome->gone)
        return OK;
    if (launch_ended_well(outcome))
        *more = segment + 1 < config_segments(&s->point->config);
    else if (!is_hopeless(outcome))
        TRY(restart(s, more, e));
    return *more ? move_aside(s, e) : OK;
}

static enum status run_all(struct supervised *s, struct error *e)
{
    bool more = true;
    while (more)
        TRY(run_next(s, &more, e));
    s->x->outcome.wall_s = clock_seconds_since(s->begin_ns);
    return OK;
}

/* Changes attempts listed as running to stopped, since their runner was killed, and reads their
 * progress. */
static void end_interrupted(struct supervised *s)
{
    char folder[PATH_BYTES];
    struct error e;
    for (size_t i = 0; i < s->all.n; i++) {
        struct attempt *a = &s->all.attempts[i];
        if (a->end != ATTEMPT_RUNNING)
            continue;
        a->end = ATTEMPT_STOPPED;
        if (path_format(folder, &e, "%s/%s", s->x->c->run_dir, a->launch) == OK)
            attempt_progress_read(&a->progress, folder);
    }
}

/* Reads the list of attempts. Renames a damaged file; the run then starts again from its first
 * segment. */
static enum status read_segments(struct supervised *s, struct error *e)
{
    char aside[PATH_BYTES];
    struct error why;
    enum status status = segments_read(&s->all, s->path, &why);
    if (status != ERR_DATA) {
        if (status != OK)
            *e = why;
        return status;
    }
    TRY(path_format(aside, e, "%s.damaged", s->path));
    if (rename(s->path, aside) != 0)
        return error_at(e, ERR_SYSTEM, s->path, 0, 0, "cannot be moved: %s", strerror(errno));
    log_print(LOG_WARNING,
              "%s: %s; the file is kept as %s, and the run starts again from its first segment",
              s->path, why.text, aside);
    return OK;
}

/* Lets a retry start all ranks again if rank deaths in earlier launches left too few ranks. */
static void regain_ranks(struct supervised *s)
{
    char why[AFTER_BYTES];
    if (s->all.n == 0 || !are_too_few(s, why, sizeof why))
        return;
    s->counted = s->all.n;
    progress_clear(&s->x->c->progress);
    log_print(LOG_NOTE, "%s, seed %llu%s: the retry starts all %ld ranks", s->point->label,
              (unsigned long long)s->x->next->seed, why, config_int(&s->point->config, OPT_RANKS));
}

enum status supervisor_run(struct execution *x, struct error *e)
{
    struct supervised s = {.x = x, .point = x->point, .begin_ns = clock_ns()};
    TRY(segments_path(s.path, sizeof s.path, x->folder, e));
    TRY(folder_make(x->folder, e));
    TRY(read_segments(&s, e));
    end_interrupted(&s);
    regain_ranks(&s);
    enum status status = run_all(&s, e);
    segments_free(&s.all);
    free(s.nodes);
    return status;
}
