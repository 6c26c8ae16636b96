#include "bench/sites/mpiexec.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static enum status make_plan(const struct config *c, const struct place *place,
                             struct place_plan *plan, struct error *e)
{
    int here =
        config_site(c)->shares_cores ? (int)config_int(c, OPT_RANKS) : config_node_ranks(c, 0);
    enum status status = place_make_plan(
        place, here, config_cores_per_rank(c), (enum place_bind)config_int(c, OPT_BIND),
        (enum place_order)config_int(c, OPT_ORDER),
        config_int(c, OPT_OVERSUBSCRIBE) == OVERSUBSCRIBE_allow || config_replays(c), plan, e);
    if (status != ERR_UNAVAILABLE || config_overlap(c) != OVERLAP_thread)
        return status;
    struct error reason = *e;
    return error_set(e, status, "%s; one thread a rank is that of sync.overlap: thread",
                     reason.text);
}

/* What programs know that keep to our options. */
static void add_options(struct argv_builder *argv, const struct mpiexec_job *job,
                        const char *const *own)
{
    argv_add_all(argv, job->options);
    /* A rank that shares its core must let the others run while it waits. */
    argv_add(argv, job->plan->oversubscribed ? "--wait=yield" : "--wait=block");
    argv_add_all(argv, own);
}

char *mpiexec_join_cpus(const struct place_plan *plan, int first, int n)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    for (int r = first; out != NULL && r < first + n; r++)
        fprintf(out, "%s%s", r > first ? "|" : "", plan->slots[r].cpus);
    if (out != NULL && fclose(out) == 0)
        return text;
    free(text);
    return NULL;
}

/* What pin samples the node by. */
static void add_sampling(struct argv_builder *argv, const struct mpiexec_job *job)
{
    const char *const nic[] = {"--nic", job->nic, NULL};
    char seconds[32];
    double interval_s = config_number(&job->job->point->config, OPT_RESOURCES);
    const char *const sample[] = {"--sample", seconds, "--sample-to", job->job->folder, NULL};
    if (interval_s <= 0)
        return;
    snprintf(seconds, sizeof seconds, "%g", interval_s);
    argv_add_all(argv, sample);
    if (job->nic != NULL)
        argv_add_all(argv, nic);
}

static void add_pinned(struct argv_builder *argv, const struct mpiexec_job *job, const char *source,
                       const char *cpus, const char *const *own)
{
    const char *const pin[] = {job->job->pin, source, cpus, NULL};
    const char *const program[] = {"--", job->job->program, NULL};
    argv_add_all(argv, pin);
    add_sampling(argv, job);
    argv_add_all(argv, program);
    if (!config_is_foreign(&job->job->point->config))
        add_options(argv, job, own);
    argv_add_all(argv, job->job->arguments);
}

void mpiexec_add_command(struct argv_builder *argv, const struct mpiexec_job *job, const char *cpus,
                         const char *const *own)
{
    add_pinned(argv, job, "--cpus", cpus, own);
}

void mpiexec_add_planned(struct argv_builder *argv, const struct mpiexec_job *job,
                         const char *const *own)
{
    char plan[80];
    const struct config *c = &job->job->point->config;
    snprintf(plan, sizeof plan, "%d,%.20s,%.20s,%.20s", config_cores_per_rank(c),
             config_text(c, OPT_BIND), config_text(c, OPT_ORDER),
             config_text(c, OPT_OVERSUBSCRIBE));
    add_pinned(argv, job, "--plan", plan, own);
}

/* Whether the user has set the variable of an entry. */
static bool is_set(const char *entry)
{
    char name[64];
    snprintf(name, sizeof name, "%.*s", (int)strcspn(entry, "="), entry);
    return getenv(name) != NULL;
}

/* Of the ranks. The trainer splits work over threads of its own; a library that did so too would
 * put more threads on a core than were planned. A foreign program has what was planned. */
static char **make_environment(const struct config *c, const char *const *of_site)
{
    struct argv_builder environment = {0};
    char threads[40];
    snprintf(threads, sizeof threads, "OMP_NUM_THREADS=%ld",
             config_is_foreign(c) ? config_int(c, OPT_THREADS) : 1);
    argv_add(&environment, "BLIS_NUM_THREADS=1");
    argv_add(&environment, threads);
    for (; of_site != NULL && *of_site != NULL; of_site++)
        if (!is_set(*of_site))
            argv_add(&environment, *of_site);
    return argv_finish(&environment);
}

enum status mpiexec_prepare_inside(const struct site_job *job, mpiexec_add *add_entrance,
                                   mpiexec_add *add_ranks, const void *arg,
                                   const char *const *environment, struct site_launch *launch,
                                   struct error *e)
{
    char **options;
    struct argv_builder argv = {0};
    TRY(make_plan(&job->point->config, job->place, &launch->plan, e));
    if (job->launcher->missing.status != OK) {
        *e = job->launcher->missing;
        return e->status;
    }
    TRY(point_arguments(&options, job->point, e));
    const struct mpiexec_job own = {job, &launch->plan, (const char *const *)options, NULL};
    if (add_entrance != NULL)
        add_entrance(&argv, &own, arg);
    argv_add(&argv, job->launcher->path);
    add_ranks(&argv, &own, arg);
    free(options);
    launch->argv = argv_finish(&argv);
    launch->environment = make_environment(&job->point->config, environment);
    if (launch->argv == NULL || launch->environment == NULL)
        return error_no_memory(e, "a command line");
    return OK;
}

enum status mpiexec_prepare(const struct site_job *job, mpiexec_add *add_ranks, const void *arg,
                            struct site_launch *launch, struct error *e)
{
    return mpiexec_prepare_inside(job, NULL, add_ranks, arg, NULL, launch, e);
}
