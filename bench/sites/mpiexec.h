/* What the sites that start ranks through mpiexec share. */
#pragma once

#include "bench/sites/argv.h"
#include "bench/sites/site.h"

/* What a launch executes, all borrowed. */
struct mpiexec_job {
    const struct site_job *job;
    const struct place_plan *plan;
    const char *const *options; /* the point's; NULL-terminated */
    const char *nic;            /* interface that carries MPI; NULL: the site does not know */
};

/* Adds the command of `n` ranks of one node, the first of which is `first`: pin, which binds each to its processors, then
 * the program with its arguments and, before the runner's, the site's `own` (NULL-terminated). */
void mpiexec_add_command(struct argv_builder *argv, const struct mpiexec_job *job, int first, int n,
                         const char *const *own);

/* The same where nodes do not share the cores of this machine: pin plans on each of them by itself. */
void mpiexec_add_planned(struct argv_builder *argv, const struct mpiexec_job *job,
                         const char *const *own);

/* Adds what hydra's mpiexec is told of the ranks of a point: what starts its proxies, the nodes with how many ranks
 * each takes, the interface that proxies listen on (NULL: any). */
void mpiexec_add_hydra(struct argv_builder *argv, const struct config *c, const char *launcher,
                       char *const *names, const char *interface);

/* Adds a part of a command line. */
typedef void mpiexec_add(struct argv_builder *argv, const struct mpiexec_job *job, const void *arg);

/* Adds entries, up to NULL, to the environment of a launch. */
enum status mpiexec_add_environment(struct site_launch *launch, const char *const *entries,
                                    struct error *e);

/* Prepares a launch, as site.prepare says: gives each rank of this machine cores of its own and
 * has add_ranks add what follows the launcher's name.
 * ERR_UNAVAILABLE with the reason where there are not enough cores, or there is no launcher. */
enum status mpiexec_prepare(const struct site_job *job, mpiexec_add *add_ranks, const void *arg,
                            struct site_launch *launch, struct error *e);

/* The same of a launcher that another program starts, which add_entrance adds with its arguments.
 * `environment`: entries of the ranks, up to NULL, that the user's own of the same name precede. */
enum status mpiexec_prepare_inside(const struct site_job *job, mpiexec_add *add_entrance,
                                   mpiexec_add *add_ranks, const void *arg,
                                   const char *const *environment, struct site_launch *launch,
                                   struct error *e);
