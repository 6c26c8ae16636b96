/* The emulated site. Hosts are network namespaces on this machine. Their interfaces emulate links
 * of a given rate and delay. The campaign or `ci/netns.sh exec` makes the hosts. Ranks of one host
 * share memory. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/sites/mpiexec.h"

/* Hosts of a launch. `launcher`: program that starts a process on a host. `head`: network interface
 * that mpiexec listens on. `nic`: network interface of each host. */
struct hosts {
    const struct netns *own; /* hosts that the campaign brings up itself; NULL: hosts listed in
                                `file`, one per line */
    const char *file, *launcher, *head, *nic;
    int n;
};

/* Returns whether `ci/netns.sh exec` started this program and provides the hosts. */
static bool are_given(void)
{
    return getenv("SCALEBENCH_HOSTS") != NULL;
}

static enum status count_hosts(struct hosts *h, struct error *e)
{
    FILE *file = fopen(h->file, "r");
    if (file == NULL)
        return error_set(e, ERR_UNAVAILABLE, "SCALEBENCH_HOSTS: file '%s' cannot be read", h->file);
    for (int c = fgetc(file); c != EOF; c = fgetc(file))
        h->n += c == '\n';
    fclose(file);
    return OK;
}

static enum status find_given(struct hosts *h, struct error *e)
{
    *h = (struct hosts){.file = getenv("SCALEBENCH_HOSTS"),
                        .launcher = getenv("SCALEBENCH_LAUNCHER"),
                        .head = getenv("SCALEBENCH_HEAD"),
                        .nic = getenv("SCALEBENCH_NIC")};
    if (h->launcher != NULL && h->head != NULL && h->nic != NULL)
        return count_hosts(h, e);
    return error_set(e, ERR_UNAVAILABLE,
                     "SCALEBENCH_HOSTS is set, but SCALEBENCH_LAUNCHER, SCALEBENCH_HEAD or "
                     "SCALEBENCH_NIC is missing. Use ci/netns.sh exec, which sets all four");
}

static enum status find_hosts(struct hosts *h, const struct netns *own, struct error *e)
{
    if (are_given())
        return find_given(h, e);
    *h = (struct hosts){
        .own = own, .launcher = own->script, .head = "br0", .nic = "eth0", .n = own->hosts};
    return OK;
}

/* Refuses a link (site.rate, site.delay) other than the link that `ci/netns.sh exec` has set up,
 * since results would state a link that was not used. */
static enum status check_link(const struct config *c, struct error *e)
{
    char wanted[LINK_BYTES];
    const char *link = getenv("SCALEBENCH_LINK");
    bool asked = c->values[OPT_SITE_RATE].set || c->values[OPT_SITE_DELAY].set;
    config_link(wanted, c);
    if (!asked || (link != NULL && strcmp(link, wanted) == 0))
        return OK;
    return error_set(e, ERR_UNAVAILABLE,
                     "site.rate = %s and site.delay = %s, but ci/netns.sh has made hosts with the "
                     "link '%s'. Run without `ci/netns.sh exec`, so that the campaign makes its "
                     "own hosts",
                     config_text(c, OPT_SITE_RATE), config_text(c, OPT_SITE_DELAY),
                     link != NULL ? link : "");
}

static enum status check_nodes(const struct config *c, const struct hosts *h, struct error *e)
{
    long nodes = config_int(c, OPT_NODES), given = config_int(c, OPT_SITE_HOSTS);
    if (h->own == NULL && nodes > h->n)
        return error_set(e, ERR_UNAVAILABLE,
                         "nodes = %ld, but ci/netns.sh has made %d hosts. Use fewer nodes, or run "
                         "without `ci/netns.sh exec`",
                         nodes, h->n);
    if (h->own == NULL)
        return check_link(c, e);
    if (nodes > NETNS_HOSTS_MAX)
        return error_set(e, ERR_UNAVAILABLE, "nodes = %ld: at most %d hosts can be emulated", nodes,
                         NETNS_HOSTS_MAX);
    if (given > 0 && nodes > given)
        return error_set(
            e, ERR_UNAVAILABLE,
            "nodes = %ld, but site.hosts = %ld. Set site.hosts to %ld, or leave it out", nodes,
            given, nodes);
    return OK;
}

/* Writes the name of host number `node`. If h->own is set, the name is "node<N>", as in
 * ci/netns.sh. Otherwise it is the text before the colon in line `node` (from 0) of h->file.
 * Returns false if the file cannot be opened. */
static bool name_host(char name[128], const struct hosts *h, int node)
{
    FILE *file = h->own == NULL ? fopen(h->file, "re") : NULL;
    snprintf(name, 128, "node%d", node);
    for (int i = 0; file != NULL && i <= node && fgets(name, 128, file) != NULL; i++)
        name[strcspn(name, ":\n")] = '\0';
    if (file != NULL)
        fclose(file);
    return h->own != NULL || file != NULL;
}

/* Adds the names of the hosts with their numbers of ranks: "node0:2,node1:1". */
static void add_names(struct argv_builder *argv, const struct hosts *h, const struct site_job *job)
{
    const struct config *c = &job->point->config;
    char name[128];
    argv_add(argv, "");
    for (int node = 0; node < config_int(c, OPT_NODES); node++) {
        argv->failed |= !name_host(name, h, job->order != NULL ? job->order[node] : node);
        argv_extend(argv, "%s%s:%d", node > 0 ? "," : "", name, config_node_ranks(c, node));
    }
}

/* Adds one host's section of the mpiexec command. The section starts `ranks` ranks, numbered from
 * `first`, through the program pin, which binds each rank to its cores. */
static void add_host(struct argv_builder *argv, const struct mpiexec_job *job,
                     const struct hosts *h, int first, int ranks)
{
    const char *const part[] = {":", "-n", NULL}, *const own[] = {"--nic", h->nic, NULL};
    struct mpiexec_job there = *job;
    there.nic = h->nic;
    argv_add_all(argv, first > 0 ? part : part + 1);
    argv_format(argv, "%d", ranks);
    mpiexec_add_command(argv, &there, first, ranks, own);
}

/* Adds the command that enters the namespaces of the campaign's own hosts. If no hosts are up, for
 * example when the command line is only printed, this command also starts them. */
static void add_entrance(struct argv_builder *argv, const struct mpiexec_job *job, const void *arg)
{
    const struct netns *own = ((const struct hosts *)arg)->own;
    if (own == NULL)
        return;
    const char *const enter[] = {own->script, "enter", own->id, NULL};
    if (own->holder != 0)
        argv_add_all(argv, enter);
    else
        netns_add_command(argv, own, &job->job->point->config, "exec");
}

/* Adds the arguments of mpiexec, with one section per host, separated by colons. */
static void add_ranks(struct argv_builder *argv, const struct mpiexec_job *job, const void *arg)
{
    const struct hosts *h = arg;
    const struct config *c = &job->job->point->config;
    const char *const start[] = {"-rmk", "user", "-hosts", NULL};
    const char *const over[] = {"-iface",         h->head,     "-launcher", "ssh",
                                "-launcher-exec", h->launcher, NULL};
    argv_add_all(argv, start);
    add_names(argv, h, job->job);
    argv_add_all(argv, over);
    for (int node = 0, first = 0; first < job->plan->ranks; node++) {
        add_host(argv, job, h, first, config_node_ranks(c, node));
        first += config_node_ranks(c, node);
    }
}

/* Returns environment entries that disable UCX's rendezvous protocol. Over TCP (UCX 1.13), its
 * clear-to-send messages wait behind outgoing data, which doubles the time of recursive halving.
 * NULL for users' programs: they call MPI_Finalize, which hangs without rendezvous. */
static const char *const *environment(const struct config *c)
{
    static const char *const no_rendezvous[] = {"UCX_RNDV_THRESH=inf", NULL};
    return config_is_foreign(c) ? NULL : no_rendezvous;
}

static enum status emulated_prepare(const struct site_job *job, struct site_launch *launch,
                                    struct error *e)
{
    struct hosts hosts;
    const struct config *c = &job->point->config;
    TRY(find_hosts(&hosts, job->netns, e));
    TRY(check_nodes(c, &hosts, e));
    TRY(launcher_check_hydra(job->launcher, e));
    return mpiexec_prepare_inside(job, add_entrance, add_ranks, &hosts, environment(c), launch, e);
}

static enum status emulated_check(struct netns *netns, struct machines *machines,
                                  const struct config *config, struct error *e)
{
    (void)machines;
    return are_given() ? OK : netns_check(netns, config, e);
}

static enum status emulated_ready(struct netns *netns, const struct config *config, struct error *e)
{
    return are_given() ? OK : netns_ready(netns, config, e);
}

static bool emulated_link(char text[LINK_BYTES], const struct config *config)
{
    const char *given = are_given() ? getenv("SCALEBENCH_LINK") : NULL;
    config_link(text, config);
    if (given != NULL)
        snprintf(text, LINK_BYTES, "%s", given);
    return given != NULL || !are_given();
}

/* Returns the number of emulated hosts, including spare hosts that the point does not use; 0 if the
 * hosts cannot be found. */
static int emulated_nodes(const struct site_job *job)
{
    struct hosts hosts;
    struct error e;
    return find_hosts(&hosts, job->netns, &e) == OK ? hosts.n : 0;
}

/* Adds a command that tests whether host number `node` answers. It runs `true` on the host, through
 * the launcher that mpiexec uses. */
static void emulated_question(struct argv_builder *argv, const struct site_job *job, int node)
{
    struct hosts hosts;
    struct error e;
    char name[128];
    argv->failed |= find_hosts(&hosts, job->netns, &e) != OK || !name_host(name, &hosts, node);
    if (argv->failed)
        return;
    const char *const enter[] = {hosts.launcher, "enter", hosts.own != NULL ? hosts.own->id : "",
                                 NULL};
    const char *const ask[] = {hosts.launcher, "-x", name, "true", NULL};
    if (hosts.own != NULL)
        argv_add_all(argv, enter);
    argv_add_all(argv, ask);
}

extern const struct site site_emulated;
const struct site site_emulated = {.prepare = emulated_prepare,
                                   .link = emulated_link,
                                   .check = emulated_check,
                                   .ready = emulated_ready,
                                   .nodes = emulated_nodes,
                                   .question = emulated_question};
