/* The local site: this machine. mpiexec starts the ranks, pin binds each to the cores that hwloc
 * planned inside the set that the runner inherited. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/sites/mpiexec.h"

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

static char **make_argv(const struct mpiexec_job *job, const void *arg)
{
    static const char *const here[] = {"-rmk", "user", "-launcher", "fork", "-hosts", "localhost"};
    static const char *const nothing[] = {NULL};
    char number[16], *cpus = join_cpus(job->plan);
    struct words words = {.failed = !cpus};
    (void)arg;
    snprintf(number, sizeof number, "%d", job->plan->ranks);
    words_add(&words, job->mpiexec);
    /* Inside a batch job hydra would ask the batch system for nodes and start ranks through it. */
    for (size_t i = 0; i < sizeof here / sizeof *here; i++)
        words_add(&words, here[i]);
    words_add(&words, "-n");
    words_add(&words, number);
    mpiexec_add_command(&words, job, cpus ? cpus : "", nothing);
    free(cpus);
    return words_finish(&words);
}

static enum status local_prepare(const struct point *point, const struct place *place,
                                 const char *program, const char *pin, char *const *arguments,
                                 struct site_launch *launch, struct error *e)
{
    long nodes = config_int(&point->config, OPT_NODES);
    *launch = (struct site_launch){0};
    if (nodes != 1)
        return error_set(e, ERR_UNAVAILABLE, "nodes = %ld: the local site has 1", nodes);
    return mpiexec_prepare(point, place, program, pin, arguments, make_argv, NULL, launch, e);
}

extern const struct site site_local;
const struct site site_local = {.name = "local", .prepare = local_prepare};
