/* Each step up to sync.post_local sums gradients. After that step, each period of sync.period steps
 * has one sum of weights. */
#include "comm/cost/description.h"
#include "comm/cost/library.h"

static void local_sgd_program(const struct step *s, struct reader *to)
{
    reader_give(to, library_allreduce(ALGORITHM_auto, s->config->calls, s->ranks, s->g->count,
                                      s->g->width));
}

static uint64_t local_sgd_steps(const struct step *s)
{
    uint64_t period = (uint64_t)s->config->options[SYNC_period];
    return period > 0 ? period : 1;
}

/* Returns how many of the first `n` steps have a sum: all steps up to sync.post_local, then the
 * last step of each period. */
static uint64_t sums_of(const struct strategy_config *config, uint64_t n)
{
    uint64_t post_local = (uint64_t)config->options[SYNC_post_local];
    uint64_t period = (uint64_t)config->options[SYNC_period];
    return n <= post_local ? n : post_local + (n - post_local) / period;
}

static uint64_t local_sgd_times(const struct strategy_config *config, uint64_t first, uint64_t n)
{
    return sums_of(config, first + n - 1) - sums_of(config, first - 1);
}

const struct strategy_desc strategy_desc_local_sgd = {
    .program = local_sgd_program,
    .steps = local_sgd_steps,
    .times = local_sgd_times,
};
