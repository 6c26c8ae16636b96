/* What pipelines ask of the other options. */
#include "bench/spec/spec.h"

static int layers_with_params(const struct net_desc *net)
{
    int n = 0;
    for (int i = 0; i < net->n_layers; i++)
        n += net->layers[i].n_tensors > 0;
    return n;
}

#define REFUSE(option, ...)                                                                        \
    do {                                                                                           \
        *at = option;                                                                              \
        return error_set(e, ERR_ARGUMENT, __VA_ARGS__);                                            \
    } while (0)

static enum status check_stages(const struct config *config, const struct net_desc *net, long ranks,
                                enum option_id *at, struct error *e)
{
    long stages = config_int(config, OPT_PIPELINE);
    if (ranks % stages != 0)
        REFUSE(OPT_PIPELINE,
               "parallel.pipeline = %ld, but ranks = %ld is no multiple of it: each stage has as "
               "many ranks",
               stages, ranks);
    if (net != NULL && layers_with_params(net) < stages)
        REFUSE(
            OPT_PIPELINE,
            "parallel.pipeline = %ld, but of the layers of model %s only %d have parameters, one "
            "of which a stage needs at least",
            stages, net->name, layers_with_params(net));
    return OK;
}

/* A stage sums over the ranks that hold the same weights. */
static enum status check_sums(const struct config *config, enum option_id *at, struct error *e)
{
    enum strategy_kind strategy = config_strategy_kind(config);
    const char *stages = config_text(config, OPT_PIPELINE);
    bool none = strategy == STRATEGY_none;
    if (!none && !(strategy_flags(strategy) & STRATEGY_EXACT))
        REFUSE(OPT_STRATEGY,
               "parallel.pipeline = %s wants the exact sum of a stage's gradients, which strategy "
               "%s does not give: `scalebench list strategies` says which are exact",
               stages, config_text(config, OPT_STRATEGY));
    if (strategy_flags(strategy) & STRATEGY_OWNS_OPTIMIZER)
        REFUSE(
            OPT_STRATEGY,
            "parallel.pipeline = %s does not go with strategies that shard the optimizer's state, "
            "%s and sync.zero: allreduce or another sum is wanted",
            stages, strategy_names()[strategy]);
    if (config_int(config, OPT_PRECISION) != PRECISION_fp32)
        REFUSE(OPT_PRECISION,
               "train.precision: %s does not go with parallel.pipeline = %s: fp32 is wanted",
               config_text(config, OPT_PRECISION), stages);
    if (config_is_elastic(config))
        REFUSE(config->values[OPT_ELASTIC].n > 0 ? OPT_ELASTIC : OPT_RESTARTS,
               "elastic and restart.budget do not go with parallel.pipeline = %s: 1 is wanted",
               stages);
    if (none && config_number(config, OPT_CLIP_NORM) > 0)
        REFUSE(OPT_CLIP_NORM,
               "train.clip_norm is of all stages of parallel.pipeline = %s, which strategy none "
               "does not ask: allreduce does, on one rank a stage as well",
               stages);
    if (config_overlap(config) == OVERLAP_thread)
        REFUSE(OPT_OVERLAP,
               "sync.overlap: thread does not go with parallel.pipeline = %s, whose messages the "
               "computing thread tests: poll_layers or poll_tiles is wanted",
               stages);
    return OK;
}

static enum status check_inputs(const struct config *config, enum option_id *at, struct error *e)
{
    const char *stages = config_text(config, OPT_PIPELINE);
    if (config_is_peer(config))
        REFUSE(OPT_PIPELINE, "parallel.pipeline = %s is for train_cnn; workload %s has no stages",
               stages, config_text(config, OPT_WORKLOAD));
    if (config_int(config, OPT_DATA_READ) != READ_all)
        REFUSE(OPT_DATA_READ,
               "data.read: %s shares the data out by ranks, not by the batches of "
               "parallel.pipeline = %s: all is wanted",
               config_text(config, OPT_DATA_READ), stages);
    if (config_calibrates(config))
        REFUSE(OPT_COMPUTE,
               "compute: calibrate times the ops of a whole net: parallel.pipeline = %s is for "
               "the points that replay them",
               stages);
    if (config_writes_checkpoints(config) && config_int(config, OPT_COMPRESS) != COMPRESSOR_none)
        REFUSE(OPT_COMPRESS,
               "sync.compress: %s keeps numbers of its own, which a checkpoint of "
               "parallel.pipeline = %s has no place for: leave checkpoint.* out, or it",
               config_text(config, OPT_COMPRESS), stages);
    return OK;
}

enum status config_check_parallel(const struct config *config, const struct net_desc *net,
                                  long ranks, enum option_id *at, struct error *e)
{
    if (config_int(config, OPT_PIPELINE) == 1)
        return OK;
    TRY(check_stages(config, net, ranks, at, e));
    TRY(check_sums(config, at, e));
    return check_inputs(config, at, e);
}
