#include "bench/sites/mpiexec.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Looks for an executable as a shell would. */
static bool find_program(const char *name, char *path, size_t size)
{
    if (strchr(name, '/') != NULL)
        return snprintf(path, size, "%s", name) < (int)size && access(path, X_OK) == 0;
    const char *folders = getenv("PATH");
    while (folders != NULL && *folders) {
        size_t n = strcspn(folders, ":");
        int length = snprintf(path, size, "%.*s/%s", (int)n, n > 0 ? folders : ".", name);
        if (length > 0 && (size_t)length < size && access(path, X_OK) == 0)
            return true;
        folders += n + (folders[n] == ':');
    }
    return false;
}

static enum status find_launcher(char *path, size_t size, struct error *e)
{
    const char *chosen = getenv("MPIEXEC");
    if (chosen != NULL && *chosen) {
        if (find_program(chosen, path, size))
            return OK;
        return error_set(e, ERR_UNAVAILABLE, "MPIEXEC='%s' is not a program that can be run",
                         chosen);
    }
    if (find_program("mpiexec.mpich", path, size) || find_program("mpiexec", path, size))
        return OK;
    return error_set(e, ERR_UNAVAILABLE,
                     "no MPI launcher: MPIEXEC is not set, and neither mpiexec.mpich nor mpiexec "
                     "is on PATH (make deps installs MPICH)");
}

static enum status make_plan(const struct config *c, const struct place *place,
                             struct place_plan *plan, struct error *e)
{
    enum status status = place_make_plan(
        place, (int)config_int(c, OPT_RANKS), config_cores_per_rank(c),
        (enum place_bind)config_int(c, OPT_BIND), (enum place_order)config_int(c, OPT_ORDER),
        config_int(c, OPT_OVERSUBSCRIBE) == OVERSUBSCRIBE_allow, plan, e);
    if (status != ERR_UNAVAILABLE || config_overlap(c) != OVERLAP_thread)
        return status;
    struct error reason = *e;
    return error_set(e, status, "%s; one thread a rank is that of sync.overlap: thread",
                     reason.text);
}

void mpiexec_add_command(struct argv_builder *argv, const struct mpiexec_job *job, const char *cpus,
                         const char *const *own)
{
    const char *const start[] = {job->job->pin, "--cpus", cpus, "--", job->job->program, NULL};
    argv_add_all(argv, start);
    argv_add_all(argv, job->options);
    /* A rank that shares its core must let the others run while it waits. */
    argv_add(argv, job->plan->oversubscribed ? "--wait=yield" : "--wait=block");
    argv_add_all(argv, own);
    argv_add_all(argv, job->job->arguments);
}

/* Of the ranks. The trainer splits work over threads of its own; a library that did so too would
 * put more threads on a core than were planned. */
static char **make_environment(void)
{
    struct argv_builder environment = {0};
    argv_add(&environment, "BLIS_NUM_THREADS=1");
    argv_add(&environment, "OMP_NUM_THREADS=1");
    return argv_finish(&environment);
}

enum status mpiexec_prepare(const struct site_job *job,
                            void (*add_ranks)(struct argv_builder *argv,
                                              const struct mpiexec_job *job, const void *arg),
                            const void *arg, struct site_launch *launch, struct error *e)
{
    char mpiexec[4096];
    char **options;
    struct argv_builder argv = {0};
    TRY(make_plan(&job->point->config, job->place, &launch->plan, e));
    TRY(find_launcher(mpiexec, sizeof mpiexec, e));
    TRY(point_arguments(&options, job->point, e));
    argv_add(&argv, mpiexec);
    const struct mpiexec_job own = {job, &launch->plan, (const char *const *)options};
    add_ranks(&argv, &own, arg);
    free(options);
    launch->argv = argv_finish(&argv);
    launch->environment = make_environment();
    if (launch->argv == NULL || launch->environment == NULL)
        return error_no_memory(e, "a command line");
    return OK;
}
