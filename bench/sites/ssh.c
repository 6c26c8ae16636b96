/* The ssh site: machines with a common file system and programs at the same path, but no batch
 * system. mpiexec starts a proxy on each machine by ssh. There, the program `pin` chooses
 * processors, since machines may differ. */
#include <net/if.h>
#include <stdio.h>
#include <string.h>

#include "bench/sites/mpiexec.h"

static enum status check_machines(const struct config *c, struct error *e)
{
    const struct value *machines = &c->values[OPT_SITE_MACHINES];
    long nodes = config_int(c, OPT_NODES);
    if (nodes <= (long)machines->n)
        return OK;
    return error_set(e, ERR_UNAVAILABLE,
                     "nodes = %ld, but site.machines lists %u. List one machine for each node, or "
                     "use fewer nodes",
                     nodes, machines->n);
}

/* Adds hydra's arguments and the command of the ranks. Hydra gets site.interface only if this
 * machine, on which mpiexec runs, has the interface. This machine need not be in site.machines. */
static void add_ranks(struct argv_builder *argv, const struct mpiexec_job *job, const void *arg)
{
    const struct config *c = &job->job->point->config;
    const char *nic = config_text(c, OPT_SITE_INTERFACE);
    bool named = strcmp(nic, "none") != 0;
    const char *const own[] = {"--nic", nic, NULL};
    struct mpiexec_job there = *job;
    there.nic = named ? nic : NULL;
    (void)arg;
    mpiexec_add_hydra(argv, c, "ssh", c->values[OPT_SITE_MACHINES].texts,
                      named && if_nametoindex(nic) > 0 ? nic : NULL);
    mpiexec_add_planned(argv, &there, named ? own : own + 2);
}

/* Prepares a launch with a plan for the point's machine with the fewest cores. Until ssh_check has
 * found the machines' cores, assumes enough for a node's ranks. */
static enum status prepare_there(const struct site_job *job, struct site_launch *launch,
                                 struct error *e)
{
    char text[64];
    const struct config *c = &job->point->config;
    struct site_job there = *job;
    struct place *place;
    int cores = machines_cores(job->machines, c);
    if (cores == 0)
        cores = config_node_ranks(c, 0) * config_cores_per_rank(c);
    snprintf(text, sizeof text, "synthetic:numa:1 core:%d pu:1", cores);
    TRY(place_open(&place, text, e));
    there.place = place;
    enum status status = mpiexec_prepare(&there, add_ranks, NULL, launch, e);
    place_close(place);
    return status;
}

static enum status ssh_prepare(const struct site_job *job, struct site_launch *launch,
                               struct error *e)
{
    TRY(check_machines(&job->point->config, e));
    TRY(launcher_check_hydra(job->launcher, e));
    TRY(prepare_there(job, launch, e));
    /* pin chooses the processors on each machine, so the processors planned here are removed */
    for (int r = 0; r < launch->plan.ranks; r++)
        launch->plan.slots[r].cpus[0] = '\0';
    static const char *const silent[] = {"HYDRA_LAUNCHER_EXTRA_ARGS=" SSH_OPTIONS, NULL};
    return mpiexec_add_environment(launch, silent, e);
}

/* Checks the machines of a point. ERR_UNAVAILABLE if a machine cannot be reached, or if its
 * programs are missing or differ from this machine's programs. */
static enum status ssh_check(struct netns *netns, struct machines *machines,
                             const struct config *config, struct error *e)
{
    (void)netns;
    return machines_check(machines, config, e);
}

static enum status ask(const char *machine, struct error *e)
{
    char command[512], said[300] = "";
    snprintf(command, sizeof command, "exec ssh -n %s %.300s true 2>&1", SSH_OPTIONS, machine);
    FILE *in = popen(command, "re");
    if (in != NULL && fgets(said, sizeof said, in) != NULL)
        said[strcspn(said, "\r\n")] = '\0';
    if (in != NULL && pclose(in) == 0)
        return OK;
    return error_set(e, ERR_UNAVAILABLE, "site: ssh: %.100s: %s", machine,
                     said[0] ? said : "cannot run ssh");
}

/* Checks that each machine of the point answers ssh, since mpiexec hangs if a machine does not
 * answer. ERR_UNAVAILABLE with the name of the first silent machine. */
static enum status ssh_ready(struct netns *netns, const struct config *config, struct error *e)
{
    (void)netns;
    for (int node = 0; node < config_int(config, OPT_NODES); node++)
        TRY(ask(config->values[OPT_SITE_MACHINES].texts[node], e));
    return OK;
}

extern const struct site site_ssh;
const struct site site_ssh = {.prepare = ssh_prepare,
                              .check = ssh_check,
                              .ready = ssh_ready,
                              .learns = true,
                              .by_daemons = true};
