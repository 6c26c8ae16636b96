#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench/collect/summary.h"
#include "comm/cost/cost.h"
#include "kernels/base/mem.h"

enum status overlap_model(double *share, const struct point *point, const struct samples *time,
                          const struct samples *alone, struct error *e)
{
    enum strategy_kind kind = config_strategy_kind(&point->config);
    size_t *counts = NULL;
    double *ready = NULL;
    struct strategy_config config;
    enum option_id at;
    *share = NAN;
    if (time->n == 0 || point->net == NULL)
        return OK;
    const struct net_desc *net = &point->net->net;
    size_t n = (size_t)net->n_tensors;
    double comm = samples_median(time, offsetof(struct launch_result, comm_replay_ms));
    double backward = samples_median(alone, offsetof(struct launch_result, backward_ms));
    size_t width = strcmp(time->items[0].result->precision, "f64") == 0 ? 8 : 4;
    if (!(comm > 0) || !(backward > 0))
        return OK;
    backward /= config_number(&point->config, OPT_ACCUMULATE); /* only the backward pass of the last
                                                                  micro-batch overlaps with
                                                                  communication */
    TRY(config_strategy(&point->config, &config, &at, e));
    enum status status = MEM_NEW(counts, n, "tensors", e);
    THEN(status, MEM_NEW(ready, n, "tensors", e));
    for (size_t i = 0; i < n && status == OK; i++)
        counts[i] = net->tensors[i].count;
    if (status == OK) {
        net_desc_ready(net, ready, backward);
        double exposed = strategy_exposed(kind, &config, counts, ready, n, width, backward, comm);
        *share = 1 - exposed / comm;
    }
    free(counts);
    free(ready);
    return status;
}
