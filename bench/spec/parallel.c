/* Checks pipelines and tensor slices, in which several ranks hold one network, against the other
 * options. */
#include "bench/spec/rules.h"
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
               "%s = %s, but ranks = %ld is no multiple of it: each %s has as many ranks", cut->key,
               cut->text, ranks, cut->part);
    return OK;
}

/* Checks the strategy, which sums over ranks that hold the same weights. */
static enum status check_sums(const struct config *config, const struct cut *cut,
                              enum option_id *at, struct error *e)
{
    enum strategy_kind strategy = config_strategy_kind(config);
    bool none = strategy == STRATEGY_none;
    if (!none && !(strategy_flags(strategy) & STRATEGY_EXACT))
        REFUSE(OPT_STRATEGY,
               "%s = %s wants the exact sum of a %s's gradients, which strategy %s does not give: "
               "`scalebench list strategies` says which are exact",
               cut->key, cut->text, cut->part, config_text(config, OPT_STRATEGY));
    if (strategy_flags(strategy) & STRATEGY_OWNS_OPTIMIZER)
        REFUSE(OPT_STRATEGY,
               "%s = %s does not go with strategies that shard the optimizer's state, %s and "
               "sync.zero: allreduce or another sum is wanted",
               cut->key, cut->text, strategy_names()[strategy]);
    if (none && config_number(config, OPT_CLIP_NORM) > 0)
        REFUSE(OPT_CLIP_NORM,
               "train.clip_norm is of all %ss of %s = %s, which strategy none does not ask: "
               "allreduce does, on one rank a %s as well",
               cut->part, cut->key, cut->text, cut->part);
    return OK;
}

static enum status check_others(const struct config *config, const struct cut *cut,
                                enum option_id *at, struct error *e)
{
    if (config_int(config, OPT_PRECISION) != PRECISION_fp32)
        REFUSE(OPT_PRECISION, "train.precision: %s does not go with %s = %s: fp32 is wanted",
               config_text(config, OPT_PRECISION), cut->key, cut->text);
    if (config_is_elastic(config))
        REFUSE(config->values[OPT_ELASTIC].n > 0 ? OPT_ELASTIC : OPT_RESTARTS,
               "elastic and restart.budget do not go with %s = %s: 1 is wanted", cut->key,
               cut->text);
    if (config_is_peer(config))
        REFUSE(cut->option, "%s = %s is for train_cnn; workload %s has no %ss", cut->key, cut->text,
               config_text(config, OPT_WORKLOAD), cut->part);
    if (config_int(config, OPT_DATA_READ) != READ_all)
        REFUSE(OPT_DATA_READ,
               "data.read: %s shares the data out by ranks, not by the batches of %s = %s: all is "
               "wanted",
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
               "parallel.pipeline = %s, but of the layers of model %s only %d have parameters, one "
               "of which a stage needs at least",
               cut.text, net->name, layers_with_params(net));
    if (config_overlap(config) == OVERLAP_thread)
        REFUSE(OPT_OVERLAP,
               "sync.overlap: thread does not go with parallel.pipeline = %s, whose messages the "
               "computing thread tests: poll_layers or poll_tiles is wanted",
               cut.text);
    if (config_calibrates(config))
        REFUSE(OPT_COMPUTE,
               "compute: calibrate times the ops of a whole net: parallel.pipeline = %s is for "
               "the points that replay them",
               cut.text);
    if (config_writes_checkpoints(config) && config_int(config, OPT_COMPRESS) != COMPRESSOR_none)
        REFUSE(OPT_COMPRESS,
               "sync.compress: %s keeps numbers of its own, which a checkpoint of "
               "parallel.pipeline = %s has no place for: leave checkpoint.* out, or it",
               config_text(config, OPT_COMPRESS), cut.text);
    return OK;
}

/* ---- Slices of dense layers ---- */

/* Checks that the layers can be cut into this number of slices. With several replicas, slices must
 * be equal: the order of ranks in a sum may depend on the memory layout, so layers held by all
 * slices would drift apart. */
static enum status check_layers(const struct net_desc *net, long slices, long replicas,
                                enum option_id *at, struct error *e)
{
    int most = net_slice_most(net);
    if (most == 1)
        REFUSE(OPT_TENSOR,
               "parallel.tensor = %ld cuts two dense layers with nothing but ReLU and dropout "
               "between them, which model %s does not have: 1 is wanted",
               slices, net->name);
    if (slices > most)
        REFUSE(OPT_TENSOR,
               "parallel.tensor = %ld, but a dense layer of model %s that is cut has %d outputs: 1 "
               "to %d slices can be had",
               slices, net->name, most, most);
    if (replicas > 1 && !net_slice_is_even(net, (int)slices))
        REFUSE(
            OPT_TENSOR,
            "parallel.tensor = %ld does not divide the outputs of the dense layers of model %s "
            "that are cut, as it must where ranks = %ld are %ld replicas: ranks = %ld is wanted, "
            "or slices of the same size",
            slices, net->name, slices * replicas, replicas, slices);
    return OK;
}

/* Checks that the sum is deterministic, because layers held by all slices must stay equal to the
 * bit. */
static enum status check_same_sums(const struct config *config, const char *slices,
                                   enum option_id *at, struct error *e)
{
    unsigned flags = strategy_flags(config_strategy_kind(config));
    if (!(flags & STRATEGY_DETERMINISTIC) || (flags & STRATEGY_SHARES_WEIGHTS))
        REFUSE(
            OPT_STRATEGY,
            "parallel.tensor = %s wants a sum that is the same to the bit for every slice, which "
            "strategy %s does not promise: allreduce does",
            slices, strategy_names()[config_strategy_kind(config)]);
    if (config_compressor(config) != COMPRESSOR_none)
        REFUSE(
            OPT_COMPRESS,
            "sync.compress: %s does not go with parallel.tensor = %s, of whose slices each would "
            "leave out others of the gradients that all of them hold: none is wanted",
            config_text(config, OPT_COMPRESS), slices);
    return OK;
}

/* Rejects options that need whole layers. */
static enum status check_whole(const struct config *config, const char *slices, enum option_id *at,
                               struct error *e)
{
    if (config_takes_norms(config))
        REFUSE(OPT_OPTIMIZER,
               "train.optimizer: %s goes by norms of whole tensors, which parallel.tensor = %s "
               "cuts: sgd, adam or adamw is wanted",
               config_text(config, OPT_OPTIMIZER), slices);
    if (config_int(config, OPT_COMPUTE) != COMPUTE_real)
        REFUSE(OPT_COMPUTE,
               "compute: %s is by times of whole layers, which parallel.tensor = %s cuts: real is "
               "wanted",
               config_text(config, OPT_COMPUTE), slices);
    if (config_int(config, OPT_REPLAY) > 0)
        REFUSE(OPT_REPLAY,
               "measure.replay = %s times the calls of a strategy alone, of which sums over the "
               "slices of parallel.tensor = %s are none: 0 is wanted",
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
               "parallel.tensor = %s does not go with parallel.pipeline = %s: one of them is to be "
               "1",
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
