/* Prepares launches of sites that start ranks through mpiexec. */
#pragma once

#include "bench/sites/argv.h"
#include "bench/sites/site.h"

/* Inputs for the command line of a launch, all borrowed. */
struct mpiexec_job {
    const struct site_job *job;
    const struct place_plan *plan;
    const char *const *options; /* the point's options as arguments of the program,
                                   NULL-terminated */
    const char *nic;            /* network interface that carries MPI; NULL: unknown */
};

/* Adds the command of ranks `first` to `first` + `n` - 1, all on one node: pin, which binds the
 * ranks, then the program. `own`: arguments from the site, NULL-terminated. */
void mpiexec_add_command(struct argv_builder *argv, const struct mpiexec_job *job, int first, int n,
                         const char *const *own);

/* Adds the command for ranks that may run on other machines. On each node, the helper program `pin`
 * chooses the cores of that node's ranks. */
void mpiexec_add_planned(struct argv_builder *argv, const struct mpiexec_job *job,
                         const char *const *own);

/* Adds the options of hydra's mpiexec. `launcher`: launcher of its proxies; `names`: nodes;
 * `interface`: network interface of the proxies (NULL: any). */
void mpiexec_add_hydra(struct argv_builder *argv, const struct config *c, const char *launcher,
                       char *const *names, const char *interface);

/* Function that adds a part of a command line. */
typedef void mpiexec_add(struct argv_builder *argv, const struct mpiexec_job *job, const void *arg);

/* Adds entries, NULL-terminated, to the environment of a launch. */
enum status mpiexec_add_environment(struct site_launch *launch, const char *const *entries,
                                    struct error *e);

/* Prepares a launch (site.prepare) with planned cores for each rank on this machine. add_ranks adds
 * the launcher's arguments. ERR_UNAVAILABLE if there are too few cores or no launcher. */
enum status mpiexec_prepare(const struct site_job *job, mpiexec_add *add_ranks, const void *arg,
                            struct site_launch *launch, struct error *e);

/* Prepares a launch whose launcher is started by another program. add_entrance adds that program
 * with its arguments. `environment`: defaults for the ranks, NULL-terminated; the user's own values
 * override them. */
enum status mpiexec_prepare_inside(const struct site_job *job, mpiexec_add *add_entrance,
                                   mpiexec_add *add_ranks, const void *arg,
                                   const char *const *environment, struct site_launch *launch,
                                   struct error *e);
