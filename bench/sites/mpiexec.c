#include "bench/sites/mpiexec.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Looks for an executable as a shell would. */
static bool find_program(const char *name, char *path, size_t size)
{
    if (strchr(name, '/'))
        return snprintf(path, size, "%s", name) < (int)size && access(path, X_OK) == 0;
    const char *folders = getenv("PATH");
    while (folders && *folders) {
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
    if (chosen && *chosen) {
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

void mpiexec_add_command(struct words *words, const struct mpiexec_job *job, const char *cpus,
                         const char *const *own)
{
    words_add(words, job->pin);
    words_add(words, "--cpus");
    words_add(words, cpus);
    words_add(words, "--");
    words_add(words, job->program);
    words_add_all(words, job->options);
    /* A rank that shares its core must let the others run while it waits. */
    words_add(words, job->plan->oversubscribed ? "--wait=yield" : "--wait=block");
    while (*own != NULL)
        words_add(words, *own++);
    words_add_all(words, job->arguments);
}

/* Of the ranks. The trainer splits work over threads of its own; a library that did so too would
 * put more threads on a core than were planned. */
static char **make_environment(void)
{
    struct words words = {0};
    words_add(&words, "BLIS_NUM_THREADS=1");
    words_add(&words, "OMP_NUM_THREADS=1");
    return words_finish(&words);
}

enum status mpiexec_prepare(const struct point *point, const struct place *place,
                            const char *program, const char *pin, char *const *arguments,
                            char **(*make_argv)(const struct mpiexec_job *job, const void *arg),
                            const void *arg, struct site_launch *launch, struct error *e)
{
    char mpiexec[4096];
    *launch = (struct site_launch){0};
    enum status status = make_plan(&point->config, place, &launch->plan, e);
    if (status == OK)
        status = find_launcher(mpiexec, sizeof mpiexec, e);
    char **options = status == OK ? point_arguments(point, e) : NULL;
    if (status == OK && !options)
        status = e ? e->status : ERR_MEMORY;
    if (status == OK) {
        const struct mpiexec_job job = {mpiexec, program, pin, &launch->plan, options, arguments};
        launch->argv = make_argv(&job, arg);
        launch->environment = make_environment();
        if (!launch->argv || !launch->environment)
            status = error_set(e, ERR_MEMORY, "no memory for a command line");
    }
    free(options);
    if (status != OK)
        site_launch_free(launch);
    return status;
}
