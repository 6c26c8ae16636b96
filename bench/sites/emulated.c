/* The emulated site: hosts that ci/netns.sh has made on this machine, network namespaces with
 * shaped interfaces. mpiexec starts one rank on each, bound to cores of its own: hosts share the
 * machine's cores, and nothing but the network joins their ranks. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
    if (!file)
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
    if (h->file && h->launcher && h->head && h->nic)
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
static char **make_argv(const struct mpiexec_job *job, const void *arg)
{
    const struct hosts *h = arg;
    const char *const start[] = {job->mpiexec, "-rmk",           "user",     "-f",
                                 h->file,      "-iface",         h->head,    "-launcher",
                                 "ssh",        "-launcher-exec", h->launcher};
    const char *const own[] = {"--nic", h->nic, NULL};
    struct words words = {0};
    for (size_t i = 0; i < sizeof start / sizeof *start; i++)
        words_add(&words, start[i]);
    for (int r = 0; r < job->plan->ranks; r++) {
        if (r > 0)
            words_add(&words, ":");
        words_add(&words, "-n");
        words_add(&words, "1");
        mpiexec_add_command(&words, job, job->plan->slots[r].cpus, own);
    }
    return words_finish(&words);
}

static enum status emulated_prepare(const struct point *point, const struct place *place,
                                    const char *program, const char *pin, char *const *arguments,
                                    struct site_launch *launch, struct error *e)
{
    struct hosts hosts;
    *launch = (struct site_launch){0};
    enum status status = find_hosts(&hosts, e);
    if (status == OK)
        status = check_nodes(&point->config, &hosts, e);
    if (status != OK)
        return status;
    return mpiexec_prepare(point, place, program, pin, arguments, make_argv, &hosts, launch, e);
}

extern const struct site site_emulated;
const struct site site_emulated = {.name = "emulated", .prepare = emulated_prepare};
