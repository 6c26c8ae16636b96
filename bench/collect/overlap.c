#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench/collect/summary.h"
#include "comm/cost/buckets.h"

/* When backward has finished the gradients of each tensor, layers taking their share of its
 * FLOPs. */
static void find_ready(double *ready, const struct net_desc *net, double backward)
{
    double done = 0;
    for (int i = net->n_layers - 1; i >= 0; i--) {
        const struct layer_desc *layer = &net->layers[i];
        done += (double)layer->flops_backward;
        for (int k = 0; k < layer->n_tensors; k++)
            ready[layer->first_tensor + k] = backward * done / (double)net->flops_backward;
    }
}

static enum status bound_of_net(double *bound, const struct net_desc *net, size_t width,
                                const struct strategy_config *config, double backward, double comm,
                                struct error *e)
{
    size_t n = (size_t)net->n_tensors, *counts = calloc(n, sizeof *counts);
    double *ready = calloc(n, sizeof *ready);
    if (!counts || !ready) {
        free(counts);
        free(ready);
        return error_set(e, ERR_MEMORY, "no memory for %zu tensors", n);
    }
    for (size_t i = 0; i < n; i++)
        counts[i] = net->tensors[i].count;
    find_ready(ready, net, backward);
    *bound = 1 - buckets_exposed(counts, ready, n, width, config, backward, comm) / comm;
    free(counts);
    free(ready);
    return OK;
}

enum status overlap_bound(double *bound, const struct point *point, const struct samples *time,
                          const struct samples *alone, struct error *e)
{
    struct strategy_config config;
    enum option_id at;
    *bound = NAN;
    if (config_int(&point->config, OPT_STRATEGY) != STRATEGY_bucketed || time->n == 0)
        return OK;
    double comm = samples_median(time, offsetof(struct launch_result, comm_replay_ms));
    double backward = samples_median(alone, offsetof(struct launch_result, backward_ms));
    size_t width = strcmp(time->items[0].result->precision, "f64") == 0 ? 8 : 4;
    if (!(comm > 0) || !(backward > 0))
        return OK;
    enum status status = config_strategy(&point->config, &config, &at, e);
    return status == OK ? bound_of_net(bound, &point->net->net, width, &config, backward, comm, e)
                        : status;
}
