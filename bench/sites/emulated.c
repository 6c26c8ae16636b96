/* The emulated site: hosts that ci/netns.sh has made on this machine, network namespaces with
 * shaped interfaces. mpiexec starts one rank on each, bound to cores of its own: hosts share the
 * machine's cores, and nothing but the network joins their ranks. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/sites/mpiexec.h"
#include "bench/sites/site.h"
#include "bench/sites/words.h"

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
static void add_rank(struct words *words, int rank, const struct hosts *h, const char *program,
                     const char *pin, const struct place_plan *plan, char *const *options,
                     char *const *arguments)
{
    if (rank > 0)
        words_add(words, ":");
    words_add(words, "-n");
    words_add(words, "1");
    words_add(words, pin);
    words_add(words, "--cpus");
    words_add(words, plan->slots[rank].cpus);
    words_add(words, "--");
    words_add(words, program);
    words_add_all(words, options);
    words_add(words, plan->oversubscribed ? "--wait=yield" : "--wait=block");
    words_add(words, "--nic");
    words_add(words, h->nic);
    words_add(words, "--no-finalize");
    words_add_all(words, arguments);
}

static char **make_argv(const char *mpiexec, const struct hosts *h, const char *program,
                        const char *pin, const struct place_plan *plan, char *const *options,
                        char *const *arguments)
{
    const char *const start[] = {mpiexec, "-rmk",           "user",     "-f",
                                 h->file, "-iface",         h->head,    "-launcher",
                                 "ssh",   "-launcher-exec", h->launcher};
    struct words words = {0};
    for (size_t i = 0; i < sizeof start / sizeof *start; i++)
        words_add(&words, start[i]);
    for (int r = 0; r < plan->ranks; r++)
        add_rank(&words, r, h, program, pin, plan, options, arguments);
    return words_finish(&words);
}

static enum status emulated_prepare(const struct point *point, const struct place *place,
                                    const char *program, const char *pin, char *const *arguments,
                                    struct site_launch *launch, struct error *e)
{
    char mpiexec[4096];
    struct hosts hosts;
    *launch = (struct site_launch){0};
    enum status status = find_hosts(&hosts, e);
    if (status == OK)
        status = check_nodes(&point->config, &hosts, e);
    if (status == OK)
        status = mpiexec_plan(&point->config, place, &launch->plan, e);
    if (status == OK)
        status = mpiexec_find(mpiexec, sizeof mpiexec, e);
    char **options = status == OK ? point_arguments(point, e) : NULL;
    if (status == OK && !options)
        status = e ? e->status : ERR_MEMORY;
    if (status == OK) {
        launch->argv = make_argv(mpiexec, &hosts, program, pin, &launch->plan, options, arguments);
        launch->environment = mpiexec_environment();
        if (!launch->argv || !launch->environment)
            status = error_set(e, ERR_MEMORY, "no memory for a command line");
    }
    free(options);
    if (status != OK)
        site_launch_free(launch);
    return status;
}

extern const struct site site_emulated;
const struct site site_emulated = {.name = "emulated", .prepare = emulated_prepare};
