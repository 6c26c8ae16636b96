/* Checks pipelines and tensor slices, in which several ranks hold one network, against the other
 * options. */
#include "bench/spec/rules/rules.h"
#include "kernels/desc/net_slice.h"

/* ---- Checks for pipelines and slices ---- */

/* Option that cuts a network, its value in the spec, and the name of one part (stage or slice). */
struct cut {
    enum option_id option;
    const char *key, *text, *part;
};

static struct cut cut_of(const struct config *config, enum option_id option, const char *part)
{
    return (struct cut){option, option_get(option)->key, config_text(config, option), part};
}

static enum status check_ranks(const struct config *config, const struct cut *cut, long ranks,
                               enum option_id *at, struct error *e)
{
    if (ranks % config_int(config, cut->option) != 0)
        REFUSE(cut->option,
               "%s = %s, but ranks = %ld is not a multiple of it: each %s needs the same number of "
               "ranks",
               cut->key, cut->text, ranks, cut->part);
    return OK;
}

/* Checks that the strategy sums the gradients of a stage or slice over its ranks exactly, up to
 * rounding, without sharding the optimizer. Strategy none is allowed, except with
 * train.clip_norm. */
static enum status check_sums(const struct config *config, const struct cut *cut,
                              enum option_id *at, struct error *e)
{
    enum strategy_kind strategy = config_strategy_kind(config);
    bool none = strategy == STRATEGY_none;
    if (!none && !(strategy_flags(strategy) & STRATEGY_EXACT))
        REFUSE(OPT_STRATEGY,
               "%s = %s needs the exact sum of a %s's gradients, but strategy %s is not exact. Use "
               "an exact strategy of `scalebench list strategies`",
               cut->key, cut->text, cut->part, config_text(config, OPT_STRATEGY));
    if (strategy_flags(strategy) & STRATEGY_OWNS_OPTIMIZER)
        REFUSE(OPT_STRATEGY,
               "%s = %s does not support strategies that shard the optimizer's state (%s, "
               "sync.zero). Use allreduce or another strategy that sums",
               cut->key, cut->text, strategy_names()[strategy]);
    if (none && config_number(config, OPT_CLIP_NORM) > 0)
        REFUSE(OPT_CLIP_NORM,
               "train.clip_norm needs the norm over all %ss of %s = %s, which strategy none does "
               "not compute. Use allreduce, also with one rank per %s",
               cut->part, cut->key, cut->text, cut->part);
    return OK;
}

static enum status check_others(const struct config *config, const struct cut *cut,
                                enum option_id *at, struct error *e)
{
    if (config_int(config, OPT_PRECISION) != PRECISION_fp32)
        REFUSE(OPT_PRECISION,
               "train.precision: %s is not supported with %s = %s. Use train.precision: fp32",
               config_text(config, OPT_PRECISION), cut->key, cut->text);
    if (config_is_elastic(config))
        REFUSE(config->values[OPT_ELASTIC].n > 0 ? OPT_ELASTIC : OPT_RESTARTS,
               "elastic and restart.budget are not supported with %s = %s. Use %s: 1", cut->key,
               cut->text, cut->key);
    if (config_is_peer(config))
        REFUSE(cut->option, "%s = %s is for train_cnn; workload %s has no %ss", cut->key, cut->text,
               config_text(config, OPT_WORKLOAD), cut->part);
    if (config_int(config, OPT_DATA_READ) != READ_all)
        REFUSE(OPT_DATA_READ,
               "data.read: %s splits the data by rank, but %s = %s needs whole batches. Use "
               "data.read: all",
               config_text(config, OPT_DATA_READ), cut->key, cut->text);
    return OK;
}

static enum status check_cut(const struct config *config, const struct cut *cut, long ranks,
                             enum option_id *at, struct error *e)
{
    TRY(check_ranks(config, cut, ranks, at, e));
    TRY(check_sums(config, cut, at, e));
    return check_others(config, cut, at, e);
}

/* ---- Stages of a pipeline ---- */

static int layers_with_params(const struct net_desc *net)
{
    int n = 0;
    for (int i = 0; i < net->n_layers; i++)
        n += net->layers[i].n_tensors > 0;
    return n;
}

static enum status check_pipeline(const struct config *config, const struct net_desc *net,
                                  long ranks, enum option_id *at, struct error *e)
{
    const struct cut cut = cut_of(config, OPT_PIPELINE, "stage");
    if (config_int(config, OPT_PIPELINE) == 1)
        return OK;
    TRY(check_cut(config, &cut, ranks, at, e));
    if (net != NULL && layers_with_params(net) < config_int(config, OPT_PIPELINE))
        REFUSE(OPT_PIPELINE,
               "parallel.pipeline = %s, but model %s has only %d layers with parameters. Each "
               "stage needs at least one",
               cut.text, net->name, layers_with_params(net));
    if (config_overlap(config) == OVERLAP_thread)
        REFUSE(OPT_OVERLAP,
               "sync.overlap: thread is not supported with parallel.pipeline = %s, in which the "
               "computing thread tests messages. Use poll_layers or poll_tiles",
               cut.text);
    if (config_calibrates(config))
        REFUSE(OPT_COMPUTE,
               "compute: calibrate needs a whole network, found parallel.pipeline = %s. Use "
               "parallel.pipeline for replayed points only",
               cut.text);
    if (config_writes_checkpoints(config) && config_int(config, OPT_COMPRESS) != COMPRESSOR_none)
        REFUSE(OPT_COMPRESS,
               "sync.compress: %s has state that a checkpoint of parallel.pipeline = %s cannot "
               "hold. Remove checkpoint.* or sync.compress",
               config_text(config, OPT_COMPRESS), cut.text);
    return OK;
}

/* ---- Slices of dense layers ---- */

/* Checks that the layers can be cut into `slices` slices, of equal size if there are several
 * replicas. With slices of unequal size, gradients could be summed in different rank orders, and
 * copies of layers that are not split would drift apart. */
static enum status check_layers(const struct net_desc *net, long slices, long replicas,
                                enum option_id *at, struct error *e)
{
    int most = net_slice_most(net);
    if (most == 1)
        REFUSE(OPT_TENSOR,
               "parallel.tensor = %ld needs two dense layers with only ReLU and dropout between "
               "them, but model %s has none. Use parallel.tensor: 1",
               slices, net->name);
    if (slices > most)
        REFUSE(OPT_TENSOR,
               "parallel.tensor = %ld, but a dense layer of model %s has %d outputs; expected 1 to "
               "%d slices",
               slices, net->name, most, most);
    if (replicas > 1 && !net_slice_is_even(net, (int)slices))
        REFUSE(OPT_TENSOR,
               "parallel.tensor = %ld must divide the outputs of the dense layers of model %s if "
               "ranks = %ld are %ld replicas. Use ranks: %ld, or slices of equal size",
               slices, net->name, slices * replicas, replicas, slices);
    return OK;
}

/* Checks that gradient sums are deterministic and not compressed, and that the strategy copies no
 * weights, because layers held by all slices must stay bit-identical. */
static enum status check_same_sums(const struct config *config, const char *slices,
                                   enum option_id *at, struct error *e)
{
    unsigned flags = strategy_flags(config_strategy_kind(config));
    if (!(flags & STRATEGY_DETERMINISTIC) || (flags & STRATEGY_SHARES_WEIGHTS))
        REFUSE(OPT_STRATEGY,
               "parallel.tensor = %s needs sums that are equal to the bit on every slice, which "
               "strategy %s does not guarantee. Use allreduce",
               slices, strategy_names()[config_strategy_kind(config)]);
    if (config_compressor(config) != COMPRESSOR_none)
        REFUSE(OPT_COMPRESS,
               "sync.compress: %s is not supported with parallel.tensor = %s, since each slice "
               "would drop different gradients of common layers. Use sync.compress: none",
               config_text(config, OPT_COMPRESS), slices);
    return OK;
}

/* Rejects options that slices do not support: optimizers with norms of whole tensors, calibrated or
 * replayed compute, and measure.replay. */
static enum status check_whole(const struct config *config, const char *slices, enum option_id *at,
                               struct error *e)
{
    if (config_takes_norms(config))
        REFUSE(OPT_OPTIMIZER,
               "train.optimizer: %s needs norms of whole tensors, which parallel.tensor = %s cuts. "
               "Use sgd, adam or adamw",
               config_text(config, OPT_OPTIMIZER), slices);
    if (config_int(config, OPT_COMPUTE) != COMPUTE_real)
        REFUSE(OPT_COMPUTE,
               "compute: %s needs times of whole layers, which parallel.tensor = %s cuts. Use "
               "compute: real",
               config_text(config, OPT_COMPUTE), slices);
    if (config_int(config, OPT_REPLAY) > 0)
        REFUSE(OPT_REPLAY,
               "measure.replay = %s times only the calls of a strategy, not the sums over slices "
               "of parallel.tensor = %s. Use measure.replay: 0",
               config_text(config, OPT_REPLAY), slices);
    return OK;
}

static enum status check_tensor(const struct config *config, const struct net_desc *net, long ranks,
                                enum option_id *at, struct error *e)
{
    const struct cut cut = cut_of(config, OPT_TENSOR, "slice");
    if (config_int(config, OPT_TENSOR) == 1)
        return OK;
    if (config_int(config, OPT_PIPELINE) > 1)
        REFUSE(OPT_TENSOR,
               "parallel.tensor = %s is not supported with parallel.pipeline = %s. Set one of them "
               "to 1",
               cut.text, config_text(config, OPT_PIPELINE));
    TRY(check_cut(config, &cut, ranks, at, e));
    if (net != NULL)
        TRY(check_layers(net, config_int(config, OPT_TENSOR), config_replicas(config, ranks), at,
                         e));
    TRY(check_same_sums(config, cut.text, at, e));
    return check_whole(config, cut.text, at, e);
}

/* ---- Check both ---- */

enum status config_check_parallel(const struct config *config, const struct net_desc *net,
                                  long ranks, enum option_id *at, struct error *e)
{
    TRY(check_pipeline(config, net, ranks, at, e));
    return check_tensor(config, net, ranks, at, e);
}
