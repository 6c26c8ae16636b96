/* The emulated site: hosts that ci/netns.sh has made on this machine, network namespaces with
 * shaped interfaces. mpiexec starts the ranks of each, bound to cores of their own: hosts share the
 * machine's cores, ranks of one host its memory, and nothing but the network joins different hosts. */
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

/* What a point asks for and the hosts do not have would be measured under a wrong name. */
static enum status check_link(const struct config *c, struct error *e)
{
    char wanted[128];
    const char *link = getenv("SCALEBENCH_LINK");
    const char *rate = config_text(c, OPT_SITE_RATE), *delay = config_text(c, OPT_SITE_DELAY);
    snprintf(wanted, sizeof wanted, "%.40s delay %.40s", rate, delay);
    bool asked = c->values[OPT_SITE_RATE].set || c->values[OPT_SITE_DELAY].set;
    if (!asked || (link != NULL && strcmp(link, wanted) == 0))
        return OK;
    return error_set(e, ERR_UNAVAILABLE,
                     "site.rate = %s, site.delay = %s: the hosts have '%s' (ci/netns.sh --rate %s "
                     "--delay %s exec ...)",
                     rate, delay, link != NULL ? link : "", rate, delay);
}

static enum status check_nodes(const struct config *c, const struct hosts *h, struct error *e)
{
    long nodes = config_int(c, OPT_NODES);
    if (nodes > h->n)
        return error_set(e, ERR_UNAVAILABLE, "nodes = %ld: ci/netns.sh has made %d hosts", nodes,
                         h->n);
    return check_link(c, e);
}

/* "node0:2,node1:1" of the hosts in the order of the file: how many ranks each takes. Freed with free,
 * NULL without memory or file. */
static char *name_hosts(const struct hosts *h, const struct config *c)
{
    char *text = NULL, line[128];
    size_t size;
    FILE *file = fopen(h->file, "r"), *out = file != NULL ? open_memstream(&text, &size) : NULL;
    for (int node = 0; out != NULL && node < config_int(c, OPT_NODES); node++)
        if (fgets(line, sizeof line, file) != NULL)
            fprintf(out, "%s%.*s:%d", node > 0 ? "," : "", (int)strcspn(line, ":\n"), line,
                    config_node_ranks(c, node));
    if (file != NULL)
        fclose(file);
    if (out != NULL && fclose(out) == 0)
        return text;
    free(text);
    return NULL;
}

/* Those of one host: neighbours, told apart by pin. */
static void add_host(struct argv_builder *argv, const struct mpiexec_job *job,
                     const struct hosts *h, int first, int ranks)
{
    char number[16], *cpus = mpiexec_join_cpus(job->plan, first, ranks);
    const char *const part[] = {":", "-n", number, NULL}, *const own[] = {"--nic", h->nic, NULL};
    snprintf(number, sizeof number, "%d", ranks);
    argv_add_all(argv, first > 0 ? part : part + 1);
    mpiexec_add_command(argv, job, cpus != NULL ? cpus : "", own);
    argv->failed |= cpus == NULL;
    free(cpus);
}

/* A part between colons for each host. */
static void add_ranks(struct argv_builder *argv, const struct mpiexec_job *job, const void *arg)
{
    const struct hosts *h = arg;
    const struct config *c = &job->job->point->config;
    char *names = name_hosts(h, c);
    const char *const start[] = {
        "-rmk",           "user",      "-hosts",    names != NULL ? names : "",
        "-iface",         h->head,     "-launcher", "ssh",
        "-launcher-exec", h->launcher, NULL};
    argv_add_all(argv, start);
    argv->failed |= names == NULL;
    free(names);
    for (int node = 0, first = 0; first < job->plan->ranks; node++) {
        add_host(argv, job, h, first, config_node_ranks(c, node));
        first += config_node_ranks(c, node);
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
