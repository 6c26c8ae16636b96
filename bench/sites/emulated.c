/* The emulated site: hosts that ci/netns.sh has made on this machine, network namespaces with
 * shaped interfaces. mpiexec starts one rank on each, bound to cores of its own: hosts share the
 * machine's cores, and nothing but the network joins their ranks. */
#include <stdio.h>
#include <stdlib.h>

#include "bench/sites/mpiexec.h"

/* What ci/netns.sh tells its command: a file with a host a line, what starts a process on one, the
 * interface that mpiexec listens on, and that of each host. */
struct hosts {
    const char *file, *launcher, *head, *nic;
    int n;
};

static enum status count_hosts(struct hosts *h, struct error *e)
{
    FILE *file = fopen(h->file, "r");
    if (file == NULL)
        return error_set(e, ERR_UNAVAILABLE, "SCALEBENCH_HOSTS='%s' cannot be read", h->file);
    for (int c = fgetc(file); c != EOF; c = fgetc(file))
        h->n += c == '\n';
    fclose(file);
    return OK;
}

static enum status find_hosts(struct hosts *h, struct error *e)
{
    *h = (struct hosts){.file = getenv("SCALEBENCH_HOSTS"),
                        .launcher = getenv("SCALEBENCH_LAUNCHER"),
                        .head = getenv("SCALEBENCH_HEAD"),
                        .nic = getenv("SCALEBENCH_NIC")};
    if (h->file != NULL && h->launcher != NULL && h->head != NULL && h->nic != NULL)
        return count_hosts(h, e);
    return error_set(e, ERR_UNAVAILABLE,
                     "site: emulated has no hosts here: run this command under ci/netns.sh exec");
}

static enum status check_nodes(const struct config *c, const struct hosts *h, struct error *e)
{
    long nodes = config_int(c, OPT_NODES), ranks = config_int(c, OPT_RANKS);
    if (nodes > h->n)
        return error_set(e, ERR_UNAVAILABLE, "nodes = %ld: ci/netns.sh has made %d hosts", nodes,
                         h->n);
    if (ranks != nodes)
        return error_set(e, ERR_UNAVAILABLE,
                         "ranks = %ld on nodes = %ld: an emulated host takes one rank", ranks,
                         nodes);
    return OK;
}

/* Hosts are given out in the order of the file, one to each of the parts between colons. */
static void add_ranks(struct argv_builder *argv, const struct mpiexec_job *job, const void *arg)
{
    const struct hosts *h = arg;
    const char *const start[] = {"-rmk",           "user",      "-f",        h->file,
                                 "-iface",         h->head,     "-launcher", "ssh",
                                 "-launcher-exec", h->launcher, NULL};
    const char *const one[] = {":", "-n", "1", NULL};
    const char *const own[] = {"--nic", h->nic, NULL};
    argv_add_all(argv, start);
    for (int r = 0; r < job->plan->ranks; r++) {
        argv_add_all(argv, r > 0 ? one : one + 1);
        mpiexec_add_command(argv, job, job->plan->slots[r].cpus, own);
    }
}

static enum status emulated_prepare(const struct site_job *job, struct site_launch *launch,
                                    struct error *e)
{
    struct hosts hosts;
    TRY(find_hosts(&hosts, e));
    TRY(check_nodes(&job->point->config, &hosts, e));
    return mpiexec_prepare(job, add_ranks, &hosts, launch, e);
}

static const char *emulated_link(void)
{
    return getenv("SCALEBENCH_LINK");
}

extern const struct site site_emulated;
const struct site site_emulated = {.prepare = emulated_prepare, .link = emulated_link};
