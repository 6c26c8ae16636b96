#include "bench/runner/campaign.h"

#include <stdlib.h>
#include <string.h>

#include "bench/collect/collect.h"
#include "bench/figures/figures.h"
#include "bench/runner/foreign.h"
#include "bench/runner/same_here.h"
#include "kernels/base/mem.h"

static void refuse(struct campaign *c, size_t point, const struct error *why)
{
    snprintf(c->refusals[point], sizeof c->refusals[point], "%s", why->text);
    c->n_refused++;
}

/* Checks whether the site and the program of point `i` can run here. If so, adds the point to
 * `same` (same_here.h). Otherwise returns ERR_UNAVAILABLE with the reason. */
static enum status ask(struct campaign *c, size_t i, struct same_here *same, struct error *e)
{
    const struct point *point = &c->spec.points[i];
    struct site_launch launch;
    TRY(campaign_prepare_launch(c, point, RUN_TIME, 0, "", &launch, e));
    enum status status = site_check(&c->netns, &c->machines, &point->config, e);
    if (status == OK && site_of(&point->config)->learns) {
        site_launch_free(&launch);
        status = campaign_prepare_launch(c, point, RUN_TIME, 0, "", &launch, e);
    }
    THEN(status, core_locks_add(&c->cores, &launch.plan, e));
    THEN(status, workloads_ask(&c->workloads, point, e));
    THEN(status, same_here_add(same, i, &launch.plan, e));
    site_launch_free(&launch);
    return status;
}

/* Marks a calibration point as unable to run if no point that replays its times can run. */
static enum status refuse_idle_calibrations(struct campaign *c, struct error *e)
{
    const struct spec *spec = &c->spec;
    struct {
        bool any, can_run;
    } * replays; /* [n_points] `any`: whether another point replays the times of this point;
                    `can_run`: whether at least one such point can run here */
    TRY(MEM_NEW(replays, spec->n_points, "the calibrations of a campaign", e));
    for (size_t i = 0; i < spec->n_points; i++) {
        size_t from = spec->points[i].calibration_index;
        replays[from].any = replays[from].any || from != i;
        replays[from].can_run = replays[from].can_run || (from != i && !c->refusals[i][0]);
    }
    for (size_t i = 0; i < spec->n_points; i++)
        if (replays[i].any && !replays[i].can_run && !c->refusals[i][0])
            refuse(c, i, &(struct error){.text = "no point that replays its times can run here"});
    free(replays);
    return OK;
}

/* Finds the points that cannot run here, before anything is written or launched. */
static enum status find_refusals(struct campaign *c, struct error *e)
{
    struct same_here *same;
    TRY(MEM_NEW(c->refusals, c->spec.n_points, "the points of a campaign", e));
    enum status status = same_here_open(&same, &c->spec, e);
    for (size_t i = 0; status == OK && i < c->spec.n_points; i++) {
        status = ask(c, i, same, e);
        if (status == ERR_UNAVAILABLE) {
            refuse(c, i, e);
            status = OK;
        }
    }
    THEN(status, refuse_idle_calibrations(c, e));
    if (status == OK)
        same_here_note(same);
    same_here_free(same);
    return status;
}

/* Reads the spec for a machine with `cores` cores per node; 0: for this machine. */
static enum status read_spec(struct campaign *c, int cores, struct error *e)
{
    struct spec_machine machine = allocation_machine(c->place);
    if (cores > 0)
        machine.usable_cores = cores;
    TRY(spec_load(&c->spec, c->request->spec, c->request->set, &machine, e));
    TRY(published_check(&c->spec, e));
    TRY(figures_check_names(&c->spec, e));
    TRY(figures_check(&c->spec, e));
    return prediction_check(&c->spec, e);
}

static enum status open_machines(struct campaign *c, const char *const *programs, struct error *e)
{
    char scalebench[PATH_BYTES];
    TRY(tools_program(c->tools, "scalebench", scalebench, e));
    return machines_open(&c->machines, scalebench, programs, e);
}

/* Reads the spec again if the smallest core count of machines reached by ssh differs from this
 * machine's. Values `auto`, `full` and `half` depend on core counts. find_refusals must have asked
 * the machines. */
static enum status read_spec_for_machines(struct campaign *c, struct error *e)
{
    int cores = machines_cores(&c->machines, NULL);
    if (cores == 0 || cores == allocation_machine(c->place).usable_cores)
        return OK;
    workloads_free(&c->workloads);
    spec_free(&c->spec);
    free(c->refusals);
    c->refusals = NULL;
    c->n_refused = 0;
    TRY(read_spec(c, cores, e));
    TRY(workloads_find(&c->workloads, &c->spec, c->tools, e));
    return find_refusals(c, e);
}

enum status campaign_prepare(struct campaign *c, const struct campaign_request *request,
                             const struct tools *tools, struct error *e)
{
    *c = (struct campaign){.request = request, .tools = tools, .journal.fd = -1};
    TRY(place_open(&c->place, NULL, e));
    TRY(read_spec(c, 0, e));
    TRY(workloads_find(&c->workloads, &c->spec, tools, e));
    TRY(tools_program(tools, "pin", c->pin, e));
    launcher_find(&c->launcher, tools->folder);
    TRY(netns_plan(&c->netns, &c->spec, tools->home, e));
    allocation_find(&c->allocation);
    const char *programs[PROGRAMS_MAX + 1] = {c->pin};
    workloads_list(&c->workloads, programs + 1);
    TRY(open_machines(c, programs, e));
    TRY(find_refusals(c, e));
    TRY(read_spec_for_machines(c, e));
    workloads_list(&c->workloads, programs + 1);
    TRY(programs_read(&c->programs, tools, programs, e));
    return facts_find(&c->facts, c, e);
}

/* Returns whether the runner chooses the path of the checkpoint. The checkpoint is then beside the
 * launch folders of the accuracy run, so that the next launch finds it. */
static bool has_own_checkpoint(const struct config *c)
{
    return !config_names_checkpoint(c) &&
           (config_writes_checkpoints(c) || config_is_elastic(c) ||
            strcmp(config_text(c, OPT_CHECKPOINT_RESUME), "auto") == 0);
}

static struct site_job job_of(const struct campaign *c, const struct point *point,
                              const char *folder, const int *order, const char *const *arguments)
{
    return (struct site_job){.point = point,
                             .place = c->place,
                             .launcher = &c->launcher,
                             .netns = &c->netns,
                             .machines = &c->machines,
                             .allocation = &c->allocation,
                             .program = workloads_program(&c->workloads, point),
                             .pin = c->pin,
                             .folder = folder,
                             .arguments = arguments,
                             .order = order};
}

enum status campaign_ask_nodes(struct campaign *c, const struct point *point, int **nodes, int *n,
                               struct error *e)
{
    char line[256];
    const struct site_job job = job_of(c, point, "", NULL, NULL);
    int all = site_nodes(&job);
    *nodes = NULL;
    *n = 0;
    if (all == 0)
        return OK;
    TRY(site_ready(&c->netns, &point->config, e));
    TRY(MEM_NEW(*nodes, (size_t)all, "the nodes of a point", e));
    for (int node = 0; node < all; node++) {
        char **question;
        TRY(site_question(&question, &job, node, e));
        if (program_ask(question, true, line, sizeof line) == 0)
            (*nodes)[(*n)++] = node;
        free(question);
    }
    return OK;
}

static enum status prepare_foreign(const struct campaign *c, const struct point *point,
                                   uint64_t seed, const char *record, struct site_launch *launch,
                                   struct error *e)
{
    char **arguments;
    const struct foreign_launch own = {.seed = seed, .record = record};
    TRY(foreign_arguments(&arguments, &point->config, &own, e));
    const struct site_job job = job_of(c, point, record, NULL, (const char *const *)arguments);
    enum status status = site_prepare(&job, launch, e);
    free(arguments);
    return status;
}

/* Returns the calibration point whose op times this point replays; the point itself if it replays
 * none. */
static const struct point *calibration_of(const struct campaign *c, const struct point *point)
{
    return &c->spec.points[point->calibration_index];
}

const struct journal_launch *campaign_calibration(const struct campaign *c,
                                                  const struct point *point)
{
    const char *id = calibration_of(c, point)->id;
    for (size_t i = c->journal.n_launches; i-- > 0;) {
        const struct journal_launch *launch = &c->journal.launches[i];
        if (launch->run == RUN_TIME && launch->status == LAUNCH_OK && !launch->outdated &&
            strcmp(launch->point, id) == 0)
            return launch;
    }
    return NULL;
}

/* Writes to `option` the trainer option for timed launches of a point: --calibrate to record op
 * times, --calibration or --rate to replay compute, "" to do neither. */
static void format_work_option(char *option, size_t size, const struct campaign *c,
                               const struct point *point)
{
    const struct journal_launch *from = NULL;
    option[0] = '\0';
    if (config_calibrates(&point->config))
        snprintf(option, size, "--calibrate");
    if (!config_replays(&point->config))
        return;
    if (calibration_of(c, point) == point) {
        snprintf(option, size, "--rate=%s", config_text(&point->config, OPT_COMPUTE_RATE));
        return;
    }
    from = campaign_calibration(c, point);
    snprintf(option, size, "--calibration=%s/%s", from != NULL ? c->run_dir : "DIR",
             from != NULL ? from->launch : calibration_of(c, point)->id);
}

/* Prepares a launch of the trainer. `more`: at most three options that override the point's
 * options, NULL-terminated. */
static enum status prepare_own(const struct campaign *c, const struct point *point,
                               enum launch_run run, uint64_t seed, const char *record,
                               const int *order, const char *const *more,
                               struct site_launch *launch, struct error *e)
{
    char path_option[PATH_BYTES + 64], record_option[PATH_BYTES + 16], seed_option[40],
        version_option[128], work_option[PATH_BYTES + 160];
    const char *arguments[9] = {record_option, run == RUN_TIME ? "--run=time" : "--run=accuracy",
                                version_option};
    size_t n = 3;
    snprintf(record_option, sizeof record_option, "--record=%s", record);
    snprintf(seed_option, sizeof seed_option, "--seed=%llu", (unsigned long long)seed);
    snprintf(version_option, sizeof version_option, "--version-string=%s",
             tools_revision(c->tools));
    format_work_option(work_option, sizeof work_option, c, point);
    snprintf(path_option, sizeof path_option, "--checkpoint.path=%s/../seed%llu.safetensors",
             record, (unsigned long long)seed);
    if (run == RUN_TIME && work_option[0] != '\0')
        arguments[n++] = work_option;
    if (run == RUN_ACCURACY)
        arguments[n++] = seed_option; /* comes after the point's seed option and overrides it */
    if (run == RUN_ACCURACY && has_own_checkpoint(&point->config))
        arguments[n++] = path_option;
    while (*more != NULL)
        arguments[n++] = *more++;
    const struct site_job job = job_of(c, point, record, order, arguments);
    return site_prepare(&job, launch, e);
}

enum status campaign_prepare_launch(const struct campaign *c, const struct point *point,
                                    enum launch_run run, uint64_t seed, const char *record,
                                    struct site_launch *launch, struct error *e)
{
    static const char *const nothing[] = {NULL};
    if (config_is_foreign(&point->config))
        return prepare_foreign(c, point, seed, record, launch, e);
    return prepare_own(c, point, run, seed, record, NULL, nothing, launch, e);
}

enum status campaign_prepare_segment(const struct campaign *c, const struct point *point,
                                     const struct campaign_segment *segment, const char *record,
                                     struct site_launch *launch, struct error *e)
{
    char until[40], resume[40];
    const char *const more[] = {until, resume, segment->omits_kill ? "--inject.kind=none" : NULL,
                                NULL};
    snprintf(until, sizeof until, "--until=%u", segment->until);
    snprintf(resume, sizeof resume, "--checkpoint.resume=%s", segment->resumes ? "auto" : "no");
    return prepare_own(c, point, RUN_ACCURACY, segment->seed, record, segment->order, more, launch,
                       e);
}

void campaign_close(struct campaign *c)
{
    launch_order_close(&c->order);
    netns_close(&c->netns);
    machines_close(&c->machines);
    core_locks_release(&c->cores);
    owner_leave(&c->owner);
    journal_close(&c->journal);
    workloads_free(&c->workloads);
    json_decref(c->facts);
    spec_free(&c->spec);
    place_close(c->place);
    allocation_free(&c->allocation);
    free(c->refusals);
    c->place = NULL;
    c->facts = NULL;
    c->refusals = NULL;
}
