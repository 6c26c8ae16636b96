/* The local site: this machine. mpiexec starts the ranks, pin binds each to the cores that hwloc
 * planned inside the set that the runner inherited. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench/sites/site.h"
#include "bench/sites/words.h"

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

static enum status find_mpiexec(char *path, size_t size, struct error *e)
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

static enum status make_plan(const struct point *point, const struct place *place,
                             struct place_plan *plan, struct error *e)
{
    const struct config *c = &point->config;
    if (config_int(c, OPT_NODES) != 1)
        return error_set(e, ERR_UNAVAILABLE, "nodes = %ld: the local site has 1",
                         config_int(c, OPT_NODES));
    enum status status = place_make_plan(
        place, (int)config_int(c, OPT_RANKS), config_cores_per_rank(c),
        (enum place_bind)config_int(c, OPT_BIND), (enum place_order)config_int(c, OPT_ORDER),
        strcmp(config_text(c, OPT_OVERSUBSCRIBE), "allow") == 0, plan, e);
    if (status != ERR_UNAVAILABLE || config_overlap(c) != OVERLAP_thread)
        return status;
    struct error reason = *e;
    return error_set(e, status, "%s; one thread a rank is that of sync.overlap: thread",
                     reason.text);
}

/* "0|1|2-3" for pin; freed with free, NULL without memory. */
static char *join_cpus(const struct place_plan *plan)
{
    size_t size = 1;
    for (int r = 0; r < plan->ranks; r++)
        size += strlen(plan->slots[r].cpus) + 1;
    char *text = malloc(size), *end = text;
    if (!text)
        return NULL;
    *end = '\0';
    for (int r = 0; r < plan->ranks; r++) {
        if (r > 0)
            *end++ = '|';
        end = stpcpy(end, plan->slots[r].cpus);
    }
    return text;
}

static char **make_environment(void)
{
    /* The trainer splits work over threads of its own; a library that did so too would put more
     * threads on a core than were planned. */
    struct words words = {0};
    words_add(&words, "BLIS_NUM_THREADS=1");
    words_add(&words, "OMP_NUM_THREADS=1");
    return words_finish(&words);
}

static char **make_argv(const char *mpiexec, const char *program, const char *pin,
                        const struct place_plan *plan, char *const *options, char *const *arguments)
{
    static const char *const here[] = {"-rmk", "user", "-launcher", "fork", "-hosts", "localhost"};
    char number[16], *cpus = join_cpus(plan);
    struct words words = {.failed = !cpus};
    snprintf(number, sizeof number, "%d", plan->ranks);
    words_add(&words, mpiexec);
    /* Inside a batch job hydra would ask the batch system for nodes and start ranks through it. */
    for (size_t i = 0; i < sizeof here / sizeof *here; i++)
        words_add(&words, here[i]);
    words_add(&words, "-n");
    words_add(&words, number);
    words_add(&words, pin);
    words_add(&words, "--cpus");
    words_add(&words, cpus ? cpus : "");
    words_add(&words, "--");
    words_add(&words, program);
    words_add_all(&words, options);
    /* A rank that shares its core must let the others run while it waits. */
    words_add(&words, plan->oversubscribed ? "--wait=yield" : "--wait=block");
    words_add_all(&words, arguments);
    free(cpus);
    return words_finish(&words);
}

static enum status local_prepare(const struct point *point, const struct place *place,
                                 const char *program, const char *pin, char *const *arguments,
                                 struct site_launch *launch, struct error *e)
{
    char mpiexec[4096];
    *launch = (struct site_launch){0};
    enum status status = make_plan(point, place, &launch->plan, e);
    if (status == OK)
        status = find_mpiexec(mpiexec, sizeof mpiexec, e);
    char **options = status == OK ? point_arguments(point, e) : NULL;
    if (status == OK && !options)
        status = e ? e->status : ERR_MEMORY;
    if (status == OK) {
        launch->argv = make_argv(mpiexec, program, pin, &launch->plan, options, arguments);
        launch->environment = make_environment();
        if (!launch->argv || !launch->environment)
            status = error_set(e, ERR_MEMORY, "no memory for a command line");
    }
    free(options);
    if (status != OK)
        site_launch_free(launch);
    return status;
}

extern const struct site site_local;
const struct site site_local = {.name = "local", .prepare = local_prepare};
