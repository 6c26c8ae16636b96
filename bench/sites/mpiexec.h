/* What the sites that start ranks through mpiexec share. */
#ifndef SCALEBENCH_BENCH_SITES_MPIEXEC_H
#define SCALEBENCH_BENCH_SITES_MPIEXEC_H

#include "bench/sites/site.h"
#include "bench/sites/words.h"

/* What a launch executes, all borrowed. */
struct mpiexec_job {
    const char *mpiexec, *program, *pin;
    const struct place_plan *plan;
    char *const *options, *const *arguments; /* the point's and the runner's; NULL-terminated */
};

/* A rank's command: pin, which binds it to `cpus`, then the program with its arguments and, before
 * the runner's, the site's `own` (NULL-terminated). */
void mpiexec_add_command(struct words *words, const struct mpiexec_job *job, const char *cpus,
                         const char *const *own);

/* Prepares the launch of a point, as site.prepare says: gives each rank cores of this machine of
 * its own, finds the launcher ($MPIEXEC, mpiexec.mpich or mpiexec) and has make_argv write the
 * command line, as words_finish returns it. ERR_UNAVAILABLE with the reason where there are not
 * enough cores, or there is no launcher. */
enum status mpiexec_prepare(const struct point *point, const struct place *place,
                            const char *program, const char *pin, char *const *arguments,
                            char **(*make_argv)(const struct mpiexec_job *job, const void *arg),
                            const void *arg, struct site_launch *launch, struct error *e);

#endif
