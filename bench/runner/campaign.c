#include "bench/runner/campaign.h"

#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "bench/collect/collect.h"
#include "bench/figures/figures.h"
#include "bench/place/load.h"
#include "kernels/base/log.h"

/* A look of 0.1 s sees ticks of 0.01 s: less than this is chance. */
#define LOAD_NOTED_PCT 25.0

/* A peer may lack what it stands on. */
static enum status ask(struct campaign *c, size_t point, struct error *e)
{
    struct error why = {0};
    enum status status = workloads_ask(&c->workloads, &c->spec.points[point], &why);
    if (status == ERR_UNAVAILABLE) {
        snprintf(c->refusals[point], sizeof c->refusals[point], "%s", why.text);
        c->n_refused++;
        return OK;
    }
    if (status != OK)
        *e = why;
    return status;
}

/* Asks the site about every point before anything is written or run. */
static enum status find_refusals(struct campaign *c, struct error *e)
{
    c->refusals = calloc(c->spec.n_points, sizeof *c->refusals);
    if (!c->refusals)
        return error_set(e, ERR_MEMORY, "no memory for %zu points", c->spec.n_points);
    for (size_t i = 0; i < c->spec.n_points; i++) {
        const struct point *point = &c->spec.points[i];
        struct site_launch launch;
        struct error why = {0};
        enum status status = campaign_prepare_launch(c, point, RUN_TIME, 0, "", &launch, &why);
        if (status == OK) {
            status = core_locks_add(&c->cores, &launch.plan, e);
            site_launch_free(&launch);
            if (status != OK || ask(c, i, e) != OK)
                return e->status;
        } else if (status == ERR_UNAVAILABLE) {
            snprintf(c->refusals[i], sizeof c->refusals[i], "%s", why.text);
            c->n_refused++;
        } else {
            *e = why;
            return status;
        }
    }
    return OK;
}

static enum status read_spec(struct campaign *c, struct error *e)
{
    enum status status = place_open(&c->place, NULL, e);
    if (status != OK)
        return status;
    struct spec_machine machine = {.usable_cores = place_machine(c->place).usable_cores};
    status = spec_load(&c->spec, c->request->spec, c->request->set, &machine, e);
    if (status != OK)
        return status;
    status = published_check(&c->spec, e);
    if (status == OK)
        status = prediction_check(&c->spec, e);
    if (status != OK)
        return status;
    return OK;
}

enum status campaign_prepare(struct campaign *c, const struct campaign_request *request,
                             const struct tools *tools, struct error *e)
{
    *c = (struct campaign){.request = request, .tools = tools, .journal.fd = -1};
    enum status status = read_spec(c, e);
    if (status == OK)
        status = workloads_find(&c->workloads, &c->spec, tools, e);
    if (status == OK)
        status = tools_program(tools, "pin", c->pin, e);
    if (status == OK)
        status = find_refusals(c, e);
    if (status != OK)
        return status;
    const char *programs[2 * WORKLOADS + 2] = {c->pin};
    workloads_list(&c->workloads, programs + 1);
    const struct identity_parts parts = {.spec = &c->spec,
                                         .machine = place_machine(c->place),
                                         .link = site_link(&c->spec.config),
                                         .programs = programs,
                                         .answers = c->workloads.answers};
    return identity_make(&c->identity, &parts, e);
}

/* Checkpoints lie beside the launches of an accuracy run, where the next of them finds what one
 * that was killed has left. */
static bool has_own_checkpoint(const struct config *c)
{
    return !c->values[OPT_CHECKPOINT_PATH].set &&
           (config_writes_checkpoints(c) ||
            strcmp(config_text(c, OPT_CHECKPOINT_RESUME), "auto") == 0);
}

enum status campaign_prepare_launch(const struct campaign *c, const struct point *point,
                                    enum launch_run run, uint64_t seed, const char *record,
                                    struct site_launch *launch, struct error *e)
{
    char path_option[PATH_BYTES + 64], record_option[PATH_BYTES + 16], seed_option[40],
        version_option[128];
    snprintf(record_option, sizeof record_option, "--record=%s", record);
    snprintf(seed_option, sizeof seed_option, "--seed=%llu", (unsigned long long)seed);
    snprintf(version_option, sizeof version_option, "--version-string=%s", c->tools->revision);
    bool checkpoint = run == RUN_ACCURACY && has_own_checkpoint(&point->config);
    snprintf(path_option, sizeof path_option, "--checkpoint.path=%s/../seed%llu.safetensors",
             record, (unsigned long long)seed);
    const char *const arguments[] = {
        record_option, run == RUN_TIME ? "--run=time" : "--run=accuracy", version_option,
        /* The last of several counts: this seed instead of the point's own. */
        run == RUN_ACCURACY ? seed_option : NULL, checkpoint ? path_option : NULL, NULL};
    const struct site_job job = {.point = point,
                                 .place = c->place,
                                 .program = workloads_program(&c->workloads, point),
                                 .pin = c->pin,
                                 .arguments = arguments};
    return site_prepare(&job, launch, e);
}

static enum status journal_refusals(struct campaign *c, struct error *e)
{
    enum status status = OK;
    size_t n = c->spec.n_points;
    bool *known = calloc(n + 1, sizeof *known);
    if (!known)
        return error_set(e, ERR_MEMORY, "no memory for %zu points", n);
    for (size_t k = 0; k < c->journal.n_skips; k++)
        known[spec_find_point(&c->spec, c->journal.skips[k].point)] = true;
    for (size_t i = 0; status == OK && i < n; i++)
        if (!known[i] && c->refusals[i][0])
            status = journal_skipped(&c->journal, c->spec.points[i].id, c->refusals[i], e);
    free(known);
    return status;
}

static int ranks_of(const struct campaign *c, const char *point)
{
    size_t i = spec_find_point(&c->spec, point);
    return i < c->spec.n_points ? (int)config_int(&c->spec.points[i].config, OPT_RANKS) : 0;
}

static bool records_read(const struct campaign *c, const struct journal_launch *l)
{
    char folder[PATH_BYTES];
    struct launch_result *result = malloc(sizeof *result);
    bool read = result && path_format(folder, NULL, "%s/%s", c->run_dir, l->launch) == OK &&
                launch_read(folder, ranks_of(c, l->point), result, NULL) == OK;
    free(result);
    return read;
}

enum status campaign_retry_failures(struct campaign *c, size_t *retried, struct error *e)
{
    enum status status = OK;
    *retried = 0;
    for (size_t i = 0; status == OK && i < c->journal.n_launches; i++) {
        const struct journal_launch *l = &c->journal.launches[i];
        if (l->status == LAUNCH_RUNNING || (launch_is_done(l) && records_read(c, l)))
            continue;
        status = journal_retry(&c->journal, l->launch, e);
        ++*retried;
    }
    return status;
}

static void announce(struct campaign *c, const struct schedule_item *item)
{
    struct schedule_outlook o = schedule_look_ahead(&c->schedule);
    char what[256];
    const char *label = c->spec.points[item->point].label;
    if (item->run == RUN_TIME)
        snprintf(what, sizeof what, "%s  launch %d", label, item->block + 1);
    else
        snprintf(what, sizeof what, "%s  accuracy, seed %llu", label,
                 (unsigned long long)item->seed);
    size_t left = o.left > 0 ? o.left : 1; /* this one, whatever was expected */
    progress_next(&c->progress, o.done + 1, o.done + left, what, o.left_s, o.at_most);
}

/* Waits for other campaigns that measure on cores of ours. Where there can be no locks, launches
 * are marked. */
static enum status lock_cores(struct campaign *c, struct error *e)
{
    char who[512];
    bool told = false;
    snprintf(who, sizeof who, "%s (%.100s)", c->owner.name, config_text(&c->spec.config, OPT_NAME));
    for (;;) {
        struct error why = {0};
        enum status status = core_locks_take(&c->cores, who, &why);
        c->cores_state = status == OK ? CORES_LOCKED : CORES_UNLOCKABLE;
        if (status == ERR_SYSTEM)
            log_print(LOG_WARNING,
                      "%s%s%s; another campaign may measure on the same cores; SCALEBENCH_LOCKS "
                      "may name a folder for their locks",
                      why.file, why.file[0] ? ": " : "", why.text);
        if (status != ERR_UNAVAILABLE)
            return OK;
        if (!told)
            log_print(LOG_NOTE, "%s; waiting for its end", why.text);
        told = true;
        poll(&(struct pollfd){.fd = c->interrupt.fd, .events = POLLIN}, 1, 200);
        owner_sign(&c->owner);
        if (interrupt_look(&c->interrupt))
            return error_set(e, ERR_INTERRUPTED, "interrupted");
    }
}

/* A look at our processors before anything of ours runs on them. What comes later is found at each
 * launch. */
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
                  "this machine is busy: others take %.0f %% of the processors to measure on (load "
                  "%.1f); points where that lasts are flagged",
                  foreign_pct, average);
}

static enum status run_items(struct campaign *c, struct error *e)
{
    struct schedule_item item;
    enum status status = OK;
    while (status == OK && schedule_next(&c->schedule, &item)) {
        if (c->cores_state == CORES_FREE) {
            status = lock_cores(c, e);
            warn_of_load(c);
        }
        if (status != OK)
            break;
        announce(c, &item);
        status = campaign_execute(c, &item, e);
        if (status == OK)
            status = schedule_learn(&c->schedule, e);
        if (status == OK && interrupt_look(&c->interrupt))
            status = error_set(e, ERR_INTERRUPTED, "interrupted");
    }
    progress_clear(&c->progress);
    return status;
}

static double wall_s(const struct journal *journal)
{
    double sum = 0;
    for (size_t i = 0; i < journal->n_launches; i++)
        sum += journal->launches[i].wall_s;
    return sum;
}

enum status campaign_run(struct campaign *c, struct error *e)
{
    enum status status =
        schedule_open(&c->schedule, &c->spec, &c->journal, c->run_dir, c->identity.seed, e);
    if (status == OK)
        status = journal_refusals(c, e);
    if (status == OK)
        status = interrupt_begin(&c->interrupt, e);
    if (status != OK)
        return status;
    progress_begin(&c->progress, stderr);
    status = run_items(c, e);
    interrupt_end(&c->interrupt);
    if (status == OK && !c->journal.finished)
        status = journal_finished(&c->journal, wall_s(&c->journal), e);
    return status;
}

void campaign_close(struct campaign *c)
{
    schedule_close(&c->schedule);
    core_locks_release(&c->cores);
    owner_leave(&c->owner);
    journal_close(&c->journal);
    workloads_free(&c->workloads);
    spec_free(&c->spec);
    place_close(c->place);
    free(c->refusals);
    c->place = NULL;
    c->refusals = NULL;
}
