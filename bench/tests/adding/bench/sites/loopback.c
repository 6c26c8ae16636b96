/* The loopback site: this machine by its loopback address. */
#include "bench/sites/mpiexec.h"

static void add_ranks(struct argv_builder *argv, const struct mpiexec_job *job, const void *arg)
{
    static const char *const here[] = {"-rmk",   "user",      "-launcher", "fork",
                                       "-hosts", "127.0.0.1", "-n",        NULL};
    static const char *const nothing[] = {NULL};
    argv_add_all(argv, here);
    argv_format(argv, "%d", job->plan->ranks);
    mpiexec_add_command(argv, job, 0, job->plan->ranks, nothing);
}

static enum status loopback_prepare(const struct site_job *job, struct site_launch *launch,
                                    struct error *e)
{
    return mpiexec_prepare(job, add_ranks, NULL, launch, e);
}

extern const struct site site_loopback;
const struct site site_loopback = {.prepare = loopback_prepare};
