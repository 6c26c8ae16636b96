/* Setting a trainer up, and taking it down again. */
#include <stdlib.h>

#include "bench/workloads/train_cnn/cut.h"
#include "bench/workloads/train_cnn/trainer.h"
#include "comm/algorithm.h"
#include "comm/compress.h"
#include "kernels/base/mem.h"

/* ---- Batches ---- */

/* Images of each rank at a time when neither train.global_batch nor train.batch_per_rank is
 * given. */
#define DEFAULT_BATCH_PER_RANK 64

uint32_t trainer_global_batch(const struct config *config, int ranks)
{
    double given = config_global_batch(config, ranks);
    return given > 0 ? (uint32_t)given
                     : DEFAULT_BATCH_PER_RANK * (uint32_t)config_replicas(config, ranks);
}

uint32_t trainer_batch_alone(const struct config *config)
{
    uint32_t accumulate = (uint32_t)config_int(config, OPT_ACCUMULATE);
    return (trainer_global_batch(config, 1) + accumulate - 1) / accumulate;
}

static enum status open_sampler(struct trainer *t, struct error *e)
{
    uint32_t limit = (uint32_t)config_int(t->config, OPT_DATA_SAMPLES);
    uint32_t n = t->data->train.n;
    t->sampler = (struct sampler){
        .n_samples = limit > 0 && limit < n ? limit : n,
        .global_batch = t->global_batch,
        .remainder = (enum remainder)config_int(t->config, OPT_REMAINDER),
        .shard = (enum shard)config_int(t->config, OPT_DATA_SHARD),
        .shuffle = config_int(t->config, OPT_SHUFFLE) != 0,
        .seed = (uint64_t)config_number(t->config, OPT_SEED),
        .rank = t->grid.replica,
        .ranks = t->grid.replicas,
    };
    return sampler_open(&t->sampler, e);
}

/* Of data whose labels say how many classes there are, the label that is one too many is named. */
static enum status check_data(const struct trainer *t, struct error *e)
{
    const struct data_set *d = t->data;
    TRY(model_check_data(t->desc, d->name, d->shape, d->largest[0] ? 0 : d->classes, e));
    if (d->classes <= t->desc->classes)
        return OK;
    return error_at(e, ERR_DATA, d->path, 0, 0,
                    "%s, but model %s tells %d classes apart: expected labels 0..%d", d->largest,
                    t->desc->name, t->desc->classes, t->desc->classes - 1);
}

enum status trainer_open_batches(struct trainer *t, struct error *e)
{
    enum option_id at;
    TRY(config_check_parallel(t->config, t->desc, t->ranks, &at, e));
    TRY(config_check_batch(t->config, t->ranks, &at, e));
    t->grid = grid_place(t->rank, t->ranks, (int)config_int(t->config, OPT_PIPELINE),
                         (int)config_int(t->config, OPT_TENSOR));
    t->global_batch = trainer_global_batch(t->config, t->ranks);
    TRY(check_data(t, e));
    TRY(open_sampler(t, e));
    t->accumulate = (uint32_t)config_int(t->config, OPT_ACCUMULATE);
    t->micro_max = sampler_micro_max(&t->sampler, t->accumulate);
    return OK;
}

/* ---- The network ---- */

enum plan trainer_plan(const struct config *config)
{
    return (enum plan)config_int(config, OPT_KERNELS);
}

bool trainer_takes_bf16(const struct config *config)
{
    return config_int(config, OPT_PRECISION) == PRECISION_bf16 && sizeof(real) == sizeof(float);
}

enum precision trainer_values(const struct config *config)
{
    bool can = sizeof(real) == sizeof(float);
    return can ? (enum precision)config_int(config, OPT_PRECISION) : PRECISION_fp32;
}

enum status trainer_isa(const struct config *config, enum isa *isa, struct error *e)
{
    TRY(isa_limit(config_text(config, OPT_ISA), e));
    return isa_choose(isa, trainer_takes_bf16(config), e);
}

bool trainer_tunes(const struct config *config)
{
    return config_int(config, OPT_TUNE) == TUNE_start;
}

enum status trainer_share_choices(struct trainer *t, uint8_t *choices, struct error *e)
{
    return wait_bcast(t->waiter, choices, (size_t)t->desc->n_layers, MPI_BYTE, 0, t->comm,
                      "rank 0's choice of kernels", e);
}

/* One that cannot try the kernels still takes part in the broadcast. */
static enum status tune(struct trainer *t, uint8_t *choices, const struct net_options *options,
                        struct error *e)
{
    struct error later;
    enum status tuned = net_tune(choices, t->computed, options, t->exec.pool, e);
    enum status shared = trainer_share_choices(t, choices, tuned == OK ? e : &later);
    return tuned == OK ? shared : tuned;
}

static enum status create_stage(struct trainer *t, struct net_options options, struct error *e)
{
    TRY(cut_net(t, &options, e));
    TRY(net_create(&t->net, t->computed, &options, e));
    return slice_find_sums(t, e);
}

/* All ranks try the kernels at the same time, as they will run them. */
static enum status create_net(struct trainer *t, struct net_options options, struct error *e)
{
    TRY(slice_open(t, e));
    if (work_is_replayed(&t->work))
        return net_create(&t->net, t->computed, &options, e);
    if (!trainer_tunes(t->config))
        return create_stage(t, options, e);
    uint8_t *choices;
    TRY(MEM_NEW(choices, (size_t)t->desc->n_layers, "the choices of kernels", e));
    enum status status = tune(t, choices, &options, e);
    options.choices = choices;
    THEN(status, create_stage(t, options, e));
    free(choices);
    return status;
}

static enum status open_net(struct trainer *t, struct error *e)
{
    const struct net_options options = {
        .plan = trainer_plan(t->config),
        .isa = t->isa,
        .values = trainer_values(t->config),
        .n_max = work_is_replayed(&t->work) ? 1 : (int)t->micro_max,
        .threads = pool_threads(t->exec.pool),
        .slots = 1,
    };
    const char *what = "the images of a batch";
    size_t n = t->micro_max;
    TRY(MEM_NEW_ALIGNED(t->images, n, what, e));
    TRY(MEM_NEW_ALIGNED(t->labels, n, what, e));
    TRY(MEM_NEW_ALIGNED(t->eval_samples, n, what, e));
    TRY(MEM_NEW_ALIGNED(t->eval_classes, n, what, e));
    if (config_int(t->config, OPT_AUGMENT) == AUGMENT_crop_flip)
        TRY(MEM_NEW_ALIGNED(t->augmented, (size_t)stage_sets(t) * n * shape_count(t->desc->input),
                            what, e));
    return create_net(t, options, e);
}

/* The most that every rank's processor has: replicas must compute the same bits. */
static enum status agree_on_isa(struct trainer *t, struct error *e)
{
    enum status chosen = trainer_isa(t->config, &t->isa, e);
    int least = chosen == OK ? (int)t->isa : 0;
    enum status status = wait_allreduce(t->waiter, &least, 1, MPI_INT, MPI_MIN, t->comm,
                                        "agreement on an instruction set", e);
    t->isa = (enum isa)least;
    return status != OK ? status : chosen;
}

enum status trainer_open(struct trainer *t, struct pool *pool, struct error *e)
{
    MPI_Comm_rank(t->comm, &t->rank);
    MPI_Comm_size(t->comm, &t->ranks);
    t->exec = (struct exec){
        .pool = pool, .seed = (uint64_t)config_number(t->config, OPT_SEED), .training = true};
    TRY(agree_on_isa(t, e));
    TRY(inject_open(&t->inject, t->config, t->rank, t->ranks, e));
    TRY(trainer_open_batches(t, e));
    TRY(grid_open(&t->grid, t->waiter, t->comm, e));
    TRY(open_net(t, e));
    TRY(work_open(t, e));
    if (t->replayed != NULL)
        TRY(cut_replayed(t, e));
    TRY(stage_open(t, e));
    t->parts = (struct checkpoint_parts){t->stage.tensors, t->grid.pipeline, NULL};
    if (t->grid.slices > 1)
        t->parts = (struct checkpoint_parts){t->stage.tensors, t->grid.tensor, &t->slice.desc};
    return OK;
}

/* ---- The strategy ---- */

/* Gives batch norm its running statistics and, where ranks share them, its sums. Under strategy
 * `none` ranks do not communicate, so nothing is shared. */
static enum status connect_batch_norm(struct trainer *t, struct error *e)
{
    enum batch_norm kind = (enum batch_norm)config_int(t->config, OPT_BATCH_NORM);
    bool shared = kind == BATCH_NORM_sync && t->desc->n_buffers > 0 && t->grid.replicas > 1 &&
                  t->sync->kind != STRATEGY_none;
    t->exec.buffers = t->sync->arenas.buffers;
    t->exec.fixed_statistics = kind == BATCH_NORM_frozen;
    net_init_buffers(t->desc, t->exec.buffers);
    if (!shared)
        return OK;
    t->exec.group_sum = group_sum;
    t->exec.group_arg = &t->group;
    /* Of each layer one forward and one backward. */
    size_t most = 2 * (size_t)t->desc->n_layers * t->accumulate;
    return group_open(&t->group, t->sync, t->overlap, t->grid.data, most, e);
}

static enum status connect_overlap(struct trainer *t, struct error *e)
{
    const struct overlap_options options = {
        .kind = config_overlap(t->config),
        .sync = t->sync,
        .cpu = t->progress_cpu,
        .yields = t->waiter->kind == WAIT_YIELD,
    };
    enum status status = overlap_open(&t->overlap, &options, e);
    if (overlap_wants_tiles(t->overlap)) {
        t->exec.poll = overlap_tile;
        t->exec.poll_arg = t->overlap;
    }
    return status;
}

/* The optimizer may run over several parts of the weights: the first is what a rank sleeps
 * before. */
static void before_update(void *arg)
{
    struct trainer *t = arg;
    if (t->updated == t->steps_done)
        return;
    t->updated = t->steps_done;
    int64_t slept_ns = inject_sleep(&t->inject, INJECT_PHASE_update, t->steps_done);
    trainer_add_sleep(t, slept_ns);
    if (pthread_equal(pthread_self(), t->thread))
        t->update_slept_ns += slept_ns;
}

static struct optimizer optimizer_of(const struct trainer *t)
{
    const struct config *c = t->config;
    return (struct optimizer){
        .kind = (enum optimizer_kind)config_int(c, OPT_OPTIMIZER),
        .isa = t->isa,
        .momentum = config_number(c, OPT_MOMENTUM),
        .weight_decay = config_number(c, OPT_WEIGHT_DECAY),
        .beta1 = config_number(c, OPT_BETA1),
        .beta2 = config_number(c, OPT_BETA2),
        .epsilon = config_number(c, OPT_EPSILON),
        .nesterov = config_int(c, OPT_NESTEROV) != 0,
        .decoupled = config_int(c, OPT_DECOUPLED_DECAY) != 0,
        .trust = config_number(c, OPT_TRUST),
        .clip_norm = config_number(c, OPT_CLIP_NORM),
        .clip_value = config_number(c, OPT_CLIP_VALUE),
        .n = t->stage.held.n_params,
        .tensors = t->stage.held.tensors,
        .n_tensors = t->stage.held.n_tensors,
    };
}

static struct loss_scale_options loss_scale_of(const struct config *c)
{
    if (config_int(c, OPT_PRECISION) != PRECISION_fp16)
        return (struct loss_scale_options){0};
    return (struct loss_scale_options){
        .fixed = config_number(c, OPT_LOSS_SCALE),
        .initial = config_number(c, OPT_LOSS_SCALE_INITIAL),
        .least = config_number(c, OPT_LOSS_SCALE_MIN),
        .window = (uint64_t)config_int(c, OPT_LOSS_SCALE_WINDOW),
        .hysteresis = (uint32_t)config_int(c, OPT_LOSS_SCALE_HYSTERESIS),
    };
}

static enum status create_sync(struct trainer *t, struct error *e)
{
    enum option_id at;
    struct sync_options options = {
        .comm = t->grid.data,
        .parts = t->grid.slices > 1   ? &t->grid.tensor
                 : t->grid.stages > 1 ? &t->grid.pipeline
                                      : NULL,
        .answers_for = t->slice.answers_for,
        .desc = &t->stage.held,
        .loss_scale = loss_scale_of(t->config),
        .slots = optimizer_slots(t->optimizer.kind),
        .waiter = t->waiter,
        .exec = &t->exec,
        .before_update = before_update,
        .before_update_arg = t,
        .update = t->replayed != NULL ? work_update : NULL,
        .update_arg = t,
    };
    TRY(config_strategy(t->config, &options.config, &at, e));
    TRY(config_check_strategy(t->config, t->ranks, &at, e));
    inject_sleep(&t->inject, INJECT_PHASE_start, 1);
    TRY(algorithm_use(options.config.algorithm, e));
    return sync_create(&t->sync, config_strategy_kind(t->config), &options, e);
}

/* Rank 0's, unless each is to draw its own: then from the seed and the rank, whatever is called when. */
static enum status draw_weights(struct trainer *t, struct error *e)
{
    bool own = !config_int(t->config, OPT_BROADCAST_INIT);
    uint64_t seed = t->exec.seed ^ (own ? (uint64_t)t->grid.replica << 32 : 0);
    if (t->grid.slices > 1)
        slice_init_params(t, t->sync->arenas.params, seed);
    else
        net_init_tensors(t->desc, t->stage.tensors.first, t->stage.tensors.last,
                         t->sync->arenas.params, seed);
    if (own && t->grid.replicas > 1)
        return MEM_NEW_ALIGNED(t->own_params, t->sync->arenas.n, "a rank's own weights", e);
    return sync_broadcast_params(t->sync, e);
}

static enum status open_weights(struct trainer *t, struct error *e)
{
    size_t longest = 0;
    for (int op = t->stage.first; op < t->stage.last; op++) {
        size_t n = span_of(&t->sync->arenas, work_op_range(t, op)).n;
        longest = n > longest ? n : longest;
    }
    return weights16_open(&t->weights, t->sync->config.precision, t->isa, &t->sync->arenas,
                          t->exec.pool, longest, e);
}

enum status trainer_connect(struct trainer *t, struct error *e)
{
    t->optimizer = optimizer_of(t);
    TRY(create_sync(t, e));
    t->optimizer.state = t->sync->arenas.state;
    TRY(draw_weights(t, e));
    TRY(open_weights(t, e));
    TRY(connect_overlap(t, e));
    TRY(slice_connect(t, e));
    stage_connect(t);
    TRY(work_connect(t, e));
    return connect_batch_norm(t, e);
}

void trainer_close(struct trainer *t)
{
    overlap_close(t->overlap);
    group_close(&t->group);
    work_close(t);
    weights16_close(&t->weights);
    sync_destroy(t->sync);
    stage_close(t);
    slice_close(t);
    grid_close(&t->grid, t->waiter);
    net_destroy(t->net);
    mem_free(t->own_params);
    mem_free(t->images);
    mem_free(t->augmented);
    mem_free(t->labels);
    mem_free(t->eval_samples);
    mem_free(t->eval_classes);
    sampler_close(&t->sampler);
}
