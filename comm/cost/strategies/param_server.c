/* The first sync.servers ranks are the servers. Every rank sends each server the part of the
 * gradient that the server owns; the server answers with weights. Variants stale and async: see
 * program.h. */
#include "comm/cost/description.h"
#include "comm/cost/exchange.h"

static int servers_of(const struct strategy_config *config)
{
    int servers = (int)config->options[SYNC_servers];
    return servers > 1 ? servers : 1;
}

static const struct schedule_rule *const passes[] = {&rule_shares_scatter, &rule_shares_gather};

static void param_server_program(const struct step *s, struct reader *to)
{
    int servers = servers_of(s->config);
    for (int i = 0; i < 2; i++)
        reader_give(to, (struct operation){.rule = passes[i],
                                           .count = s->g->count,
                                           .width = s->g->width,
                                           .owners = servers,
                                           .single = true});
}

static enum status refuse_norms(const struct sync_demand *demand, int servers, const char **key,
                                struct error *e)
{
    *key = demand->key;
    return error_set(e, ERR_ARGUMENT,
                     "%s = %s needs norms of the whole gradient, but sync.servers = %d splits the "
                     "gradient. Use sync.servers: 1",
                     demand->key, demand->text, servers);
}

/* In variants stale and async, ranks can be in different steps, so options that synchronise all
 * ranks are rejected. Only async supports clipping with several servers: it clips each rank's
 * gradient separately. */
static enum status param_server_check(const struct strategy_config *config,
                                      const struct sync_demands *demands, const char **key,
                                      struct error *e)
{
    bool async = config->variant == VARIANT_param_server_async;
    bool runs_free = async || config->variant == VARIANT_param_server_stale;
    int servers = servers_of(config);
    *key = "sync.scale";
    if (async && config->scale == GRADIENT_SCALE_post)
        return error_set(
            e, ERR_ARGUMENT,
            "sync.scale = post scales sums, but sync.variant = async applies each rank's "
            "gradient without a sum. Use sync.scale: loss or pre");
    *key = "sync.servers";
    if (servers > demands->ranks)
        return error_set(e, ERR_ARGUMENT,
                         "sync.servers = %d exceeds ranks = %d, but each server is a rank. "
                         "Use at most %d",
                         servers, demands->ranks, demands->ranks);
    if (servers > 1 && demands->layer_norms.key != NULL)
        return refuse_norms(&demands->layer_norms, servers, key, e);
    if (servers > 1 && demands->clipping.key != NULL && !async)
        return refuse_norms(&demands->clipping, servers, key, e);
    if (!runs_free || demands->lockstep.key == NULL)
        return OK;
    *key = demands->lockstep.key;
    return error_set(
        e, ERR_ARGUMENT, "%s = %s synchronises all ranks, which sync.variant = %s does not support",
        demands->lockstep.key, demands->lockstep.text, strategy_variant_name(config->variant));
}

const struct strategy_desc strategy_desc_param_server = {
    .program = param_server_program,
    .check = param_server_check,
};
