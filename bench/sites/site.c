#include "bench/sites/site.h"

#include <stdlib.h>

#define SITE(name, kind, shares_cores, summary) extern const struct site site_##name;
#include "bench/spec/sites.def"

const struct site *site_of(const struct config *config)
{
    static const struct site *const sites[SITES] = {
#define SITE(name, kind, shares_cores, summary) &site_##name,
#include "bench/spec/sites.def"
    };
    return sites[config_int(config, OPT_SITE)];
}

/* Refuses strategies that need all ranks on one node if the point has several nodes. Accepts them
 * with pipeline stages or tensor slices, where only ranks of the same stage and slice must share a
 * node. */
static enum status check_one_node(const struct config *config, struct error *e)
{
    enum strategy_kind strategy = config_strategy_kind(config);
    long nodes = config_int(config, OPT_NODES), ranks = config_int(config, OPT_RANKS);
    if (nodes == 1 || config_replicas(config, ranks) < ranks ||
        !(strategy_flags(strategy) & STRATEGY_ONE_NODE))
        return OK;
    return error_set(e, ERR_UNAVAILABLE, "nodes = %ld, but strategy %s needs all ranks on one node",
                     nodes, strategy_names()[strategy]);
}

enum status site_prepare(const struct site_job *job, struct site_launch *launch, struct error *e)
{
    *launch = (struct site_launch){0};
    const struct site *site = site_of(&job->point->config);
    TRY(check_one_node(&job->point->config, e));
    enum status status = site->prepare(job, launch, e);
    launch->by_daemons = site->by_daemons;
    if (status != OK)
        site_launch_free(launch);
    return status;
}

bool site_link(char text[LINK_BYTES], const struct config *config)
{
    const struct site *site = site_of(config);
    return site->link != NULL && config_has_usual_link(config) && site->link(text, config);
}

enum status site_check(struct netns *netns, struct machines *machines, const struct config *config,
                       struct error *e)
{
    const struct site *site = site_of(config);
    return site->check != NULL ? site->check(netns, machines, config, e) : OK;
}

enum status site_ready(struct netns *netns, const struct config *config, struct error *e)
{
    const struct site *site = site_of(config);
    return site->ready != NULL ? site->ready(netns, config, e) : OK;
}

int site_nodes(const struct site_job *job)
{
    const struct site *site = site_of(&job->point->config);
    return site->nodes != NULL ? site->nodes(job) : 0;
}

enum status site_question(char ***question, const struct site_job *job, int node, struct error *e)
{
    struct argv_builder argv = {0};
    site_of(&job->point->config)->question(&argv, job, node);
    return argv_finish(&argv, question, "a command line", e);
}

bool sites_link(char text[LINK_BYTES], const struct spec *spec)
{
    for (size_t i = 0; i < spec->n_points; i++)
        if (site_link(text, &spec->points[i].config))
            return true;
    return false;
}

void site_launch_free(struct site_launch *launch)
{
    free(launch->argv);
    free(launch->environment);
    free(launch->cleanup);
    place_plan_free(&launch->plan);
    *launch = (struct site_launch){0};
}
