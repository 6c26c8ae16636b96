/* The local site: this machine. mpiexec starts the ranks. The program `pin` binds each rank to its
 * planned processors, chosen among those that the runner may use. With place.bind: none, ranks are
 * not bound. */

#include "bench/sites/mpiexec.h"

/* Adds mpiexec's options and the command of the ranks. Hydra must not use the batch system, even
 * within a job. Open MPI must not bind ranks, since the program `pin` binds them. */
static void add_ranks(struct argv_builder *argv, const struct mpiexec_job *job, const void *arg)
{
    static const char *const here[] = {"-rmk",   "user",      "-launcher", "fork",
                                       "-hosts", "localhost", "-n",        NULL};
    static const char *const open_mpi[] = {"--bind-to", "none", "--oversubscribe", "-n", NULL};
    static const char *const nothing[] = {NULL};
    argv_add_all(argv, job->job->launcher->open_mpi ? open_mpi : here);
    argv_format(argv, "%d", job->plan->ranks);
    mpiexec_add_command(argv, job, 0, job->plan->ranks, nothing);
}

static enum status local_prepare(const struct site_job *job, struct site_launch *launch,
                                 struct error *e)
{
    long nodes = config_int(&job->point->config, OPT_NODES);
    if (nodes != 1)
        return error_set(e, ERR_UNAVAILABLE,
                         "nodes = %ld, but site = local has one node. Use nodes: 1 or another site",
                         nodes);
    return mpiexec_prepare(job, add_ranks, NULL, launch, e);
}

extern const struct site site_local;
const struct site site_local = {.prepare = local_prepare};
