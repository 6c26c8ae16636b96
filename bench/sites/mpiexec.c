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
    return error_set(e, status, "%s; sync.overlap = thread adds one thread to each rank",
                     reason.text);
}

/* Adds the options of scalebench's workloads. Do not call it for a user's program, which does not
 * know these options. */
static void add_options(struct argv_builder *argv, const struct mpiexec_job *job,
                        const char *const *own)
{
    argv_add_all(argv, job->options);
    /* how the program's ranks wait: a rank that shares its core must yield the core; a rank with a
     * core of its own makes blocking MPI calls */
    argv_add(argv, job->plan->oversubscribed ? "--wait=yield" : "--wait=block");
    argv_add_all(argv, own);
}

/* Adds the options of build/pin for sampling the node's resources. */
static void add_sampling(struct argv_builder *argv, const struct mpiexec_job *job)
{
    const char *const to[] = {"--sample-to", job->job->folder, NULL};
    const char *const nic[] = {"--nic", job->nic, NULL};
    double interval_s = config_number(&job->job->point->config, OPT_RESOURCES);
    if (interval_s <= 0)
        return;
    argv_add(argv, "--sample");
    argv_format(argv, "%g", interval_s);
    argv_add_all(argv, to);
    if (job->nic != NULL)
        argv_add_all(argv, nic);
}

/* Adds the sampling options of build/pin, then the program that pin executes and its arguments. */
static void add_program(struct argv_builder *argv, const struct mpiexec_job *job,
                        const char *const *own)
{
    const char *const program[] = {"--", job->job->program, NULL};
    add_sampling(argv, job);
    argv_add_all(argv, program);
    if (!config_is_foreign(&job->job->point->config))
        add_options(argv, job, own);
    argv_add_all(argv, job->job->arguments);
}

void mpiexec_add_command(struct argv_builder *argv, const struct mpiexec_job *job, int first, int n,
                         const char *const *own)
{
    const char *const pin[] = {job->job->pin, "--cpus", "", NULL};
    argv_add_all(argv, pin);
    for (int r = first; r < first + n; r++)
        argv_extend(argv, "%s%s", r > first ? "|" : "", job->plan->slots[r].cpus);
    add_program(argv, job, own);
}

void mpiexec_add_planned(struct argv_builder *argv, const struct mpiexec_job *job,
                         const char *const *own)
{
    const struct config *c = &job->job->point->config;
    const char *const pin[] = {job->job->pin, "--plan", NULL};
    argv_add_all(argv, pin);
    argv_format(argv, "%d,%.20s,%.20s,%.20s", config_cores_per_rank(c), config_text(c, OPT_BIND),
                config_text(c, OPT_ORDER), config_text(c, OPT_OVERSUBSCRIBE));
    add_program(argv, job, own);
}

void mpiexec_add_hydra(struct argv_builder *argv, const struct config *c, const char *launcher,
                       char *const *names, const char *interface)
{
    const char *const start[] = {"-rmk", "user", "-launcher", launcher, "-hosts", "", NULL};
    const char *const over[] = {"-iface", interface, NULL};
    argv_add_all(argv, start);
    for (int node = 0; node < config_int(c, OPT_NODES); node++)
        argv_extend(argv, "%s%s:%d", node > 0 ? "," : "", names[node], config_node_ranks(c, node));
    if (interface != NULL)
        argv_add_all(argv, over);
    argv_add(argv, "-n");
    argv_format(argv, "%ld", config_int(c, OPT_RANKS));
}

static bool is_set(const char *entry)
{
    char name[64];
    snprintf(name, sizeof name, "%.*s", (int)strcspn(entry, "="), entry);
    return getenv(name) != NULL;
}

/* Makes the environment of the ranks. Libraries must not start threads beside the trainer's own
 * threads. In a user's program (workload: command), OpenMP gets the planned number of threads. */
static enum status make_environment(struct site_launch *launch, const struct config *c,
                                    const char *const *of_site, struct error *e)
{
    struct argv_builder environment = {0};
    argv_add(&environment, "BLIS_NUM_THREADS=1");
    argv_format(&environment, "OMP_NUM_THREADS=%ld",
                config_is_foreign(c) ? config_int(c, OPT_THREADS) : 1);
    for (; of_site != NULL && *of_site != NULL; of_site++)
        if (!is_set(*of_site))
            argv_add(&environment, *of_site);
    return argv_finish(&environment, &launch->environment, "a command line", e);
}

enum status mpiexec_add_environment(struct site_launch *launch, const char *const *entries,
                                    struct error *e)
{
    struct argv_builder environment = {0};
    argv_add_all(&environment, (const char *const *)launch->environment);
    argv_add_all(&environment, entries);
    free(launch->environment);
    return argv_finish(&environment, &launch->environment, "a command line", e);
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
    TRY(argv_finish(&argv, &launch->argv, "a command line", e));
    return make_environment(launch, &job->point->config, environment, e);
}

enum status mpiexec_prepare(const struct site_job *job, mpiexec_add *add_ranks, const void *arg,
                            struct site_launch *launch, struct error *e)
{
    return mpiexec_prepare_inside(job, NULL, add_ranks, arg, NULL, launch, e);
}
