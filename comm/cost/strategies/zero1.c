/* The ring's messages: sums of gradients on the first round trip, parameters on the second. */
#include "comm/cost/description.h"
#include "comm/cost/strategies/ring.h"

static enum status zero1_check(const struct strategy_config *config,
                               const struct sync_demands *demands, const char **key,
                               struct error *e)
{
    *key = demands->layer_norms.key;
    if (*key == NULL)
        return OK;
    return error_set(e, ERR_ARGUMENT,
                     "%s = %s needs norms of whole tensors, which the equal shards of strategy "
                     "zero1 cut; those of shm_zero1, on one node, are whole tensors",
                     demands->layer_norms.key, demands->layer_norms.text);
}

const struct strategy_desc strategy_desc_zero1 = {
    .schedule = &ring_rule,
    .check = zero1_check,
};
