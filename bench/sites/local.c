/* The local site: this machine. mpiexec starts the ranks, pin binds each to the cores that hwloc
 * planned inside the set that the runner inherited. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/sites/mpiexec.h"
#include "bench/sites/site.h"
#include "bench/sites/words.h"

static enum status make_plan(const struct point *point, const struct place *place,
                             struct place_plan *plan, struct error *e)
{
    const struct config *c = &point->config;
    if (config_int(c, OPT_NODES) != 1)
        return error_set(e, ERR_UNAVAILABLE, "nodes = %ld: the local site has 1",
                         config_int(c, OPT_NODES));
    return mpiexec_plan(c, place, plan, e);
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
        status = mpiexec_find(mpiexec, sizeof mpiexec, e);
    char **options = status == OK ? point_arguments(point, e) : NULL;
    if (status == OK && !options)
        status = e ? e->status : ERR_MEMORY;
    if (status == OK) {
        launch->argv = make_argv(mpiexec, program, pin, &launch->plan, options, arguments);
        launch->environment = mpiexec_environment();
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
