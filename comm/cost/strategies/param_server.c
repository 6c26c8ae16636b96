/* To every server but itself a rank pushes its gradient's part and gets it answered; a server,
 * which is one of the first ranks, answers each of the others. Where ranks run freely that is so
 * for the steps up to a moment at which all have come to the same. */
#include "comm/cost/description.h"
#include "comm/cost/exchange.h"

static int servers_of(const struct strategy_config *config)
{
    int servers = (int)config->options[SYNC_servers];
    return servers > 1 ? servers : 1;
}

/* A message out and one in, one after the other. */
static void add_push_or_answer(struct cost *c, const struct participant *p, size_t bytes)
{
    add_message(c, p, bytes);
    add_receipt(c, p, bytes);
    c->calls += 2;
    c->bytes_payload += 2 * bytes;
}

static struct cost param_server_cost(const struct strategy_config *config,
                                     const struct participant *p, const struct gradient *g)
{
    struct cost c = {0};
    int servers = servers_of(config);
    for (int j = 0; j < servers; j++)
        if (j != p->rank)
            add_push_or_answer(&c, p, share_bytes(g->count, j, servers, g->width));
    for (int r = 0; r < p->ranks && p->rank < servers; r++) {
        if (r == p->rank)
            continue;
        size_t bytes = share_bytes(g->count, p->rank, servers, g->width);
        add_push_or_answer(&c, p, bytes);
        add_reduction(&c, p, bytes);
    }
    return c;
}

static enum status refuse_norms(const struct sync_demand *demand, int servers, const char **key,
                                struct error *e)
{
    *key = demand->key;
    return error_set(e, ERR_ARGUMENT,
                     "%s = %s needs norms of the whole gradient, which one server alone has: "
                     "sync.servers = %d, allowed 1",
                     demand->key, demand->text, servers);
}

/* Ranks that do not keep step cannot take part in anything collective within a step or between
 * two. In async each rank's gradient is clipped by its own norm. */
static enum status param_server_check(const struct strategy_config *config,
                                      const struct sync_demands *demands, const char **key,
                                      struct error *e)
{
    bool async = config->variant == VARIANT_param_server_async;
    bool runs_free = async || config->variant == VARIANT_param_server_stale;
    int servers = servers_of(config);
    *key = "sync.scale";
    if (async && config->scale == GRADIENT_SCALE_post)
        return error_set(e, ERR_ARGUMENT,
                         "sync.scale: post scales sums, but servers of sync.variant: async step on "
                         "each rank's gradient by itself: loss or pre is wanted");
    *key = "sync.servers";
    if (servers > demands->ranks)
        return error_set(e, ERR_ARGUMENT, "sync.servers = %d, but ranks = %d: servers are ranks",
                         servers, demands->ranks);
    if (servers > 1 && demands->layer_norms.key != NULL)
        return refuse_norms(&demands->layer_norms, servers, key, e);
    if (servers > 1 && demands->clipping.key != NULL && !async)
        return refuse_norms(&demands->clipping, servers, key, e);
    if (!runs_free || demands->lockstep.key == NULL)
        return OK;
    *key = demands->lockstep.key;
    return error_set(e, ERR_ARGUMENT,
                     "%s = %s makes all ranks wait for each other, which sync.variant = %s does "
                     "not allow",
                     demands->lockstep.key, demands->lockstep.text,
                     strategy_variant_name(config->variant));
}

const struct strategy_desc strategy_desc_param_server = {
    .cost = param_server_cost,
    .check = param_server_check,
};
