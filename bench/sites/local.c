/* The local site: this machine. mpiexec starts the ranks, pin binds each to the cores that hwloc
 * planned inside the set that the runner inherited. */
#include <stdio.h>
#include <stdlib.h>

#include "bench/sites/mpiexec.h"

/* "0|1|2-3" for pin; freed with free, NULL without memory. */
static char *join_cpus(const struct place_plan *plan)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    for (int r = 0; out != NULL && r < plan->ranks; r++)
        fprintf(out, "%s%s", r > 0 ? "|" : "", plan->slots[r].cpus);
    if (out != NULL && fclose(out) == 0)
        return text;
    free(text);
    return NULL;
}

/* Inside a batch job hydra would ask the batch system for nodes and start ranks through it. */
static void add_ranks(struct argv_builder *argv, const struct mpiexec_job *job, const void *arg)
{
    static const char *const here[] = {"-rmk",   "user",      "-launcher", "fork",
                                       "-hosts", "localhost", "-n",        NULL};
    static const char *const nothing[] = {NULL};
    char number[16], *cpus = join_cpus(job->plan);
    snprintf(number, sizeof number, "%d", job->plan->ranks);
    argv_add_all(argv, here);
    argv_add(argv, number);
    mpiexec_add_command(argv, job, cpus != NULL ? cpus : "", nothing);
    argv->failed |= cpus == NULL;
    free(cpus);
}

static enum status local_prepare(const struct site_job *job, struct site_launch *launch,
                                 struct error *e)
{
    long nodes = config_int(&job->point->config, OPT_NODES);
    if (nodes != 1)
        return error_set(e, ERR_UNAVAILABLE, "nodes = %ld: the local site has 1", nodes);
    return mpiexec_prepare(job, add_ranks, NULL, launch, e);
}

extern const struct site site_local;
const struct site site_local = {.prepare = local_prepare};
