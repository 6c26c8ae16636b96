/* Opens and closes a trainer: batches, network, strategy and initial weights. */
#include <stdlib.h>

#include "bench/workloads/train_cnn/cut.h"
#include "bench/workloads/train_cnn/trainer.h"
#include "comm/algorithm.h"
#include "comm/compress.h"
#include "kernels/base/mem.h"

/* ---- Batches ---- */

/* Images per replica and step if the spec sets neither train.global_batch nor
 * train.batch_per_rank. */
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
    t->batches.sampler = (struct sampler){
        .n_samples = limit > 0 && limit < n ? limit : n,
        .global_batch = t->batches.global_batch,
        .remainder = (enum remainder)config_int(t->config, OPT_REMAINDER),
        .shard = (enum shard)config_int(t->config, OPT_DATA_SHARD),
        .shuffle = config_int(t->config, OPT_SHUFFLE) != 0,
        .seed = (uint64_t)config_number(t->config, OPT_SEED),
        .rank = t->job.grid.replica,
        .ranks = t->job.grid.replicas,
    };
    return sampler_open(&t->batches.sampler, e);
}

/* Checks that data and model fit. If the number of classes was read from the labels, the error
 * quotes the largest label. */
static enum status check_data(const struct trainer *t, struct error *e)
{
    const struct data_set *d = t->data;
    TRY(model_check_data(t->model.desc, d->name, d->shape, d->largest[0] ? 0 : d->classes, e));
    if (d->classes <= t->model.desc->classes)
        return OK;
    return error_at(e, ERR_DATA, d->path, 0, 0,
                    "%s, but model %s has %d classes: expected labels 0..%d", d->largest,
                    t->model.desc->name, t->model.desc->classes, t->model.desc->classes - 1);
}

/* Rejects a target accuracy that guessing reaches. The user has probably written a fraction instead
 * of a percentage. */
static enum status check_target(const struct trainer *t, struct error *e)
{
    double target = config_number(t->config, OPT_TARGET_ACC),
           chance = 100.0 / t->model.desc->classes;
    if (target == 0 || t->model.desc->classes < 2 || target > chance)
        return OK;
    return error_set(
        e, ERR_ARGUMENT,
        "train.target_acc_pct: expected a percentage above chance, which is %.3g %% with "
        "%d classes, found '%s'; for 97 %% write 97",
        chance, t->model.desc->classes, config_text(t->config, OPT_TARGET_ACC));
}

enum status trainer_open_batches(struct trainer *t, struct error *e)
{
    enum option_id at;
    TRY(config_check_parallel(t->config, t->model.desc, t->job.ranks, &at, e));
    TRY(config_check_batch(t->config, t->job.ranks, &at, e));
    TRY(config_check_strategy(t->config, t->job.ranks, &at, e));
    t->job.grid = grid_place(t->job.rank, t->job.ranks, (int)config_int(t->config, OPT_PIPELINE),
                             (int)config_int(t->config, OPT_TENSOR));
    t->batches.global_batch = trainer_global_batch(t->config, t->job.ranks);
    TRY(check_data(t, e));
    TRY(check_target(t, e));
    TRY(open_sampler(t, e));
    t->batches.accumulate = (uint32_t)config_int(t->config, OPT_ACCUMULATE);
    t->batches.micro_max = sampler_micro_max(&t->batches.sampler, t->batches.accumulate);
    return OK;
}

/* ---- The network ---- */

enum precision trainer_values(const struct config *config)
{
    bool can = sizeof(real) == sizeof(float);
    return can ? (enum precision)config_int(config, OPT_PRECISION) : PRECISION_fp32;
}

enum status trainer_isa(const struct config *config, enum isa *isa, struct error *e)
{
    TRY(isa_limit(config_text(config, OPT_ISA), e));
    return isa_choose(isa, trainer_values(config) == PRECISION_bf16, e);
}

bool trainer_tunes(const struct config *config)
{
    return config_int(config, OPT_TUNE) == TUNE_start;
}

enum status trainer_share_choices(const struct job *job, uint8_t *choices, int n_layers,
                                  struct error *e)
{
    return wait_bcast(job->waiter, choices, (size_t)n_layers, MPI_BYTE, 0, job->comm,
                      "rank 0's choice of kernels", e);
}

/* Tunes kernels and broadcasts rank 0's choices. A rank whose tuning failed still takes part in the
 * broadcast. */
static enum status tune(struct trainer *t, uint8_t *choices, const struct net_options *options,
                        struct error *e)
{
    struct error later;
    enum status tuned = net_tune(choices, t->model.computed, options, t->model.exec.pool, e);
    enum status shared =
        trainer_share_choices(&t->job, choices, t->model.desc->n_layers, tuned == OK ? e : &later);
    return tuned == OK ? shared : tuned;
}

static enum status create_stage(struct trainer *t, struct net_options options, struct error *e)
{
    TRY(cut_net(t, &options, e));
    TRY(net_create(&t->model.net, t->model.computed, &options, e));
    return slice_find_sums(&t->model, e);
}

/* Creates the net. If kernels.tune = start, all ranks tune at the same time, so that kernels are
 * timed under the load of a run. */
static enum status create_net(struct trainer *t, struct net_options options, struct error *e)
{
    TRY(slice_open(&t->model, &t->job.grid, e));
    if (work_is_replayed(&t->work))
        return net_create(&t->model.net, t->model.computed, &options, e);
    if (!trainer_tunes(t->config))
        return create_stage(t, options, e);
    uint8_t *choices;
    TRY(MEM_NEW(choices, (size_t)t->model.desc->n_layers, "the choices of kernels", e));
    enum status status = tune(t, choices, &options, e);
    options.choices = choices;
    THEN(status, create_stage(t, options, e));
    free(choices);
    return status;
}

static enum status open_net(struct trainer *t, struct error *e)
{
    const struct net_options options = {
        .plan = (enum plan)config_int(t->config, OPT_KERNELS),
        .isa = t->model.isa,
        .values = trainer_values(t->config),
        .n_max = work_is_replayed(&t->work) ? 1 : (int)t->batches.micro_max,
        .threads = pool_threads(t->model.exec.pool),
        .slots = 1,
    };
    const char *what = "the images of a batch";
    size_t n = t->batches.micro_max;
    TRY(MEM_NEW_ALIGNED(t->batches.images, n, what, e));
    TRY(MEM_NEW_ALIGNED(t->batches.labels, n, what, e));
    TRY(MEM_NEW_ALIGNED(t->batches.eval_samples, n, what, e));
    TRY(MEM_NEW_ALIGNED(t->batches.eval_classes, n, what, e));
    if (config_int(t->config, OPT_AUGMENT) == AUGMENT_crop_flip)
        TRY(MEM_NEW_ALIGNED(t->batches.augmented,
                            (size_t)stage_sets(t) * n * shape_count(t->model.desc->input), what,
                            e));
    return create_net(t, options, e);
}

/* Chooses the best instruction set that every rank supports, within the limits of kernels.isa and
 * SCALEBENCH_ISA. All ranks use the same one, because replicas must compute the same bits. */
static enum status agree_on_isa(struct trainer *t, struct error *e)
{
    enum status chosen = trainer_isa(t->config, &t->model.isa, e);
    int least = chosen == OK ? (int)t->model.isa : 0;
    enum status status = wait_allreduce(t->job.waiter, &least, 1, MPI_INT, MPI_MIN, t->job.comm,
                                        "agreement on an instruction set", e);
    t->model.isa = (enum isa)least;
    return status != OK ? status : chosen;
}

enum status trainer_open(struct trainer *t, struct pool *pool, struct error *e)
{
    MPI_Comm_rank(t->job.comm, &t->job.rank);
    MPI_Comm_size(t->job.comm, &t->job.ranks);
    t->model.exec = (struct exec){
        .pool = pool, .seed = (uint64_t)config_number(t->config, OPT_SEED), .training = true};
    TRY(agree_on_isa(t, e));
    TRY(inject_open(&t->inject, t->config, t->job.rank, t->job.ranks, e));
    TRY(trainer_open_batches(t, e));
    TRY(grid_open(&t->job.grid, t->job.waiter, t->job.comm, e));
    TRY(open_net(t, e));
    TRY(work_open(t, e));
    if (t->replayed != NULL)
        TRY(cut_replayed(t, e));
    TRY(stage_open(t, e));
    t->model.parts = (struct checkpoint_parts){t->model.stage.tensors, t->job.grid.pipeline, NULL};
    if (t->job.grid.slices > 1)
        t->model.parts = (struct checkpoint_parts){t->model.stage.tensors, t->job.grid.tensor,
                                                   &t->model.slice.desc};
    return OK;
}

/* ---- The strategy ---- */

/* Initialises the running statistics of batch norm. If batch statistics are summed over ranks, sets
 * up these sums. Under strategy `none`, statistics are never summed. */
static enum status connect_batch_norm(struct trainer *t, struct error *e)
{
    enum batch_norm kind = (enum batch_norm)config_int(t->config, OPT_BATCH_NORM);
    bool shared = kind == BATCH_NORM_sync && t->model.desc->n_buffers > 0 &&
                  t->job.grid.replicas > 1 && t->sync->kind != STRATEGY_none;
    t->model.exec.buffers = t->sync->arenas.buffers;
    t->model.exec.fixed_statistics = kind == BATCH_NORM_frozen;
    net_init_buffers(t->model.desc, t->model.exec.buffers);
    if (!shared)
        return OK;
    t->model.stage.shares_statistics = true;
    t->model.exec.group_sum = group_sum;
    t->model.exec.group_arg = &t->group;
    /* one sum per pass, layer and micro-batch */
    size_t most = 2 * (size_t)t->model.desc->n_layers * t->batches.accumulate;
    return group_open(&t->group, t->sync, t->overlap, t->job.grid.data, most, e);
}

static enum status connect_overlap(struct trainer *t, struct error *e)
{
    const struct overlap_options options = {
        .kind = config_overlap(t->config),
        .sync = t->sync,
        .cpu = t->progress_cpu,
        .yields = t->job.waiter->kind == WAIT_YIELD,
    };
    enum status status = overlap_open(&t->overlap, &options, e);
    if (overlap_wants_tiles(t->overlap)) {
        t->model.exec.poll = overlap_tile;
        t->model.exec.poll_arg = t->overlap;
    }
    return status;
}

/* Sleeps before the first update of a step, if a sleep is injected there. The optimizer may run
 * several times in a step, once per part of the weights. */
static void before_update(void *arg)
{
    struct trainer *t = arg;
    if (t->update_sleep.step == t->steps_done)
        return;
    t->update_sleep.step = t->steps_done;
    int64_t slept_ns = inject_sleep(&t->inject, INJECT_PHASE_update, t->steps_done);
    trainer_add_sleep(t, slept_ns);
    if (pthread_equal(pthread_self(), t->update_sleep.thread))
        t->update_sleep.slept_ns += slept_ns;
}

static struct optimizer optimizer_of(const struct trainer *t)
{
    const struct config *c = t->config;
    return (struct optimizer){
        .kind = (enum optimizer_kind)config_int(c, OPT_OPTIMIZER),
        .isa = t->model.isa,
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
        .n = t->model.stage.held.n_params,
        .tensors = t->model.stage.held.tensors,
        .n_tensors = t->model.stage.held.n_tensors,
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
        .comm = t->job.grid.data,
        .parts = t->job.grid.slices > 1   ? &t->job.grid.tensor
                 : t->job.grid.stages > 1 ? &t->job.grid.pipeline
                                          : NULL,
        .in_norm = t->model.slice.in_norm,
        .desc = &t->model.stage.held,
        .loss_scale = loss_scale_of(t->config),
        .slots = optimizer_slots(t->optimizer.kind),
        .waiter = t->job.waiter,
        .exec = &t->model.exec,
        .before_update = before_update,
        .before_update_arg = t,
        .update = t->replayed != NULL ? work_update : NULL,
        .update_arg = t,
    };
    TRY(config_strategy(t->config, &options.config, &at, e));
    inject_sleep(&t->inject, INJECT_PHASE_start, 1);
    TRY(algorithm_use(options.config.algorithm, e));
    return sync_create(&t->sync, config_strategy_kind(t->config), &options, e);
}

/* Draws initial weights, which depend only on seed and replica. With train.broadcast_init, all
 * replicas get the weights of the first replica. */
static enum status draw_weights(struct trainer *t, struct error *e)
{
    bool own = !config_int(t->config, OPT_BROADCAST_INIT);
    uint64_t seed = t->model.exec.seed ^ (own ? (uint64_t)t->job.grid.replica << 32 : 0);
    if (t->job.grid.slices > 1)
        slice_init_params(&t->model, t->sync->arenas.params, seed);
    else
        net_init_tensors(t->model.desc, t->model.stage.tensors.first, t->model.stage.tensors.last,
                         t->sync->arenas.params, seed);
    if (own && t->job.grid.replicas > 1)
        return MEM_NEW_ALIGNED(t->own_params, t->sync->arenas.n, "a rank's own weights", e);
    return sync_broadcast_params(t->sync, e);
}

static enum status open_weights(struct trainer *t, struct error *e)
{
    size_t longest = 0;
    for (int op = t->model.stage.first; op < t->model.stage.last; op++) {
        size_t n = span_of(&t->sync->arenas, work_op_range(t, op)).n;
        longest = n > longest ? n : longest;
    }
    return weights16_open(&t->model.weights, t->sync->config.precision, t->model.isa,
                          &t->sync->arenas, t->model.exec.pool, longest, e);
}

enum status trainer_connect(struct trainer *t, struct error *e)
{
    t->optimizer = optimizer_of(t);
    TRY(create_sync(t, e));
    t->optimizer.state = t->sync->arenas.state;
    t->sync->takes_norm2 = t->noise != NULL;
    TRY(draw_weights(t, e));
    TRY(open_weights(t, e));
    TRY(connect_overlap(t, e));
    TRY(slice_connect(&t->model, t->sync, t->batches.micro_max, e));
    stage_connect(&t->model.stage, &t->model.exec);
    TRY(work_connect(t, e));
    return connect_batch_norm(t, e);
}

void trainer_close(struct trainer *t)
{
    overlap_close(t->overlap);
    group_close(&t->group);
    work_close(t);
    weights16_close(&t->model.weights);
    sync_destroy(t->sync);
    stage_close(&t->model.stage);
    slice_close(&t->model.slice);
    grid_close(&t->job.grid, t->job.waiter);
    net_destroy(t->model.net);
    mem_free(t->own_params);
    mem_free(t->batches.images);
    mem_free(t->batches.augmented);
    mem_free(t->batches.labels);
    mem_free(t->batches.eval_samples);
    mem_free(t->batches.eval_classes);
    free(t->batches.predictions);
    sampler_close(&t->batches.sampler);
}
