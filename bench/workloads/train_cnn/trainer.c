#include "bench/workloads/train_cnn/trainer.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#define XXH_INLINE_ALL /* the hash is a header: nothing to link */
#include <xxhash.h>

#include "bench/workloads/data/augment.h"
#include "bench/workloads/train_cnn/schedule.h"
#include "comm/algorithm.h"
#include "kernels/base/clock.h"
#include "kernels/base/mem.h"

/* Images of a step on each rank when neither train.global_batch nor train.batch_per_rank is
 * given. */
#define DEFAULT_BATCH_PER_RANK 64

uint32_t trainer_global_batch(const struct config *config, int ranks)
{
    long global = config_int(config, OPT_GLOBAL_BATCH);
    long per_rank = config_int(config, OPT_BATCH_PER_RANK);
    if (global == 0)
        global = (per_rank > 0 ? per_rank : DEFAULT_BATCH_PER_RANK) * ranks;
    return (uint32_t)global;
}

static enum status check_data(const struct trainer *t, struct error *e)
{
    return model_check_data(t->desc, t->data->name, t->data->shape, t->data->classes, e);
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
        .rank = t->rank,
        .ranks = t->ranks,
    };
    return sampler_open(&t->sampler, e);
}

enum status trainer_open_batches(struct trainer *t, struct error *e)
{
    t->global_batch = trainer_global_batch(t->config, t->ranks);
    enum status status = check_data(t, e);
    return status == OK ? open_sampler(t, e) : status;
}

static bool augments(const struct trainer *t)
{
    return config_int(t->config, OPT_AUGMENT) == AUGMENT_crop_flip;
}

enum plan trainer_plan(const struct config *config)
{
    return (enum plan)config_int(config, OPT_KERNELS);
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

/* All ranks try the kernels at the same time, as they will run them. One that cannot still takes
 * part in the broadcast. */
static enum status create_net(struct trainer *t, struct net_options options, struct error *e)
{
    if (!trainer_tunes(t->config))
        return net_create(&t->net, t->desc, &options, e);
    struct error later;
    uint8_t *choices = calloc((size_t)t->desc->n_layers, sizeof *choices);
    if (choices == NULL)
        return error_set(e, ERR_MEMORY, "no memory for the choices of kernels");
    enum status status = net_tune(choices, t->desc, &options, t->exec.pool, e);
    enum status shared = trainer_share_choices(t, choices, status == OK ? e : &later);
    status = status == OK ? shared : status;
    options.choices = choices;
    if (status == OK)
        status = net_create(&t->net, t->desc, &options, e);
    free(choices);
    return status;
}

static enum status open_net(struct trainer *t, struct error *e)
{
    const struct net_options options = {
        .plan = trainer_plan(t->config),
        .isa = t->isa,
        .n_max = (int)t->sampler.n_max,
        .threads = pool_threads(t->exec.pool),
        .slots = 1,
    };
    t->images = mem_alloc(t->sampler.n_max * sizeof *t->images);
    t->augmented = mem_alloc(augments(t) ? t->sampler.n_max * shape_count(t->desc->input) : 0);
    t->labels = mem_alloc(t->sampler.n_max);
    t->eval_samples = mem_alloc(t->sampler.n_max * sizeof *t->eval_samples);
    t->eval_classes = mem_alloc(t->sampler.n_max * sizeof *t->eval_classes);
    if (t->images == NULL || t->augmented == NULL || t->labels == NULL || t->eval_samples == NULL ||
        t->eval_classes == NULL)
        return error_set(e, ERR_MEMORY, "no memory for a batch of %u images", t->sampler.n_max);
    return create_net(t, options, e);
}

/* The most that every rank's processor has: replicas must compute the same bits. */
static enum status agree_on_isa(struct trainer *t, struct error *e)
{
    enum status chosen = isa_choose(&t->isa, e);
    int least = chosen == OK ? (int)t->isa : 0;
    enum status status = wait_allreduce(t->waiter, &least, 1, MPI_INT, MPI_MIN, t->comm,
                                        "agreement on an instruction set", e);
    t->isa = (enum isa)least;
    return status != OK ? status : chosen;
}

static enum batch_norm batch_norm_of(const struct trainer *t)
{
    return (enum batch_norm)config_int(t->config, OPT_BATCH_NORM);
}

/* Gives batch norm its running statistics and, where ranks share them, its sums. Strategy `none`
 * says nothing to other ranks, so it has nothing to share. */
static enum status connect_batch_norm(struct trainer *t, struct error *e)
{
    bool shared = batch_norm_of(t) == BATCH_NORM_sync && t->desc->n_buffers > 0 && t->ranks > 1 &&
                  t->sync->kind != STRATEGY_none;
    t->exec.buffers = t->sync->arenas.buffers;
    t->exec.fixed_statistics = batch_norm_of(t) == BATCH_NORM_frozen;
    net_init_buffers(t->desc, t->exec.buffers);
    if (!shared)
        return OK;
    t->exec.group_sum = group_sum;
    t->exec.group_arg = &t->group;
    enum status status = group_open(&t->group, t->waiter, t->comm, e);
    t->group.overlap = t->overlap;
    return status;
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

enum status trainer_open(struct trainer *t, struct pool *pool, struct error *e)
{
    MPI_Comm_rank(t->comm, &t->rank);
    MPI_Comm_size(t->comm, &t->ranks);
    t->exec = (struct exec){
        .pool = pool, .seed = (uint64_t)config_number(t->config, OPT_SEED), .training = true};
    t->sampler = (struct sampler){0};
    t->net = NULL;
    t->sync = NULL;
    t->overlap = NULL;
    t->group = (struct group){.open = false};
    t->images = NULL;
    t->augmented = t->labels = NULL;
    t->eval_samples = NULL;
    t->eval_classes = NULL;
    t->predictions = NULL;
    t->steps_done = t->updated = 0;
    t->batches_tracked = 0;
    enum status status = agree_on_isa(t, e);
    if (status == OK)
        status = inject_open(&t->inject, t->config, t->rank, t->ranks, e);
    if (status == OK)
        status = trainer_open_batches(t, e);
    return status == OK ? open_net(t, e) : status;
}

/* The optimizer may run over several parts of the weights: the first is what a rank sleeps
 * before. */
static void before_update(void *arg)
{
    struct trainer *t = arg;
    if (t->updated == t->steps_done)
        return;
    t->updated = t->steps_done;
    t->update_slept_ns += inject_sleep(&t->inject, INJECT_PHASE_update, t->steps_done);
}

enum status trainer_connect(struct trainer *t, struct error *e)
{
    t->optimizer = (struct optimizer){
        .kind = (enum optimizer_kind)config_int(t->config, OPT_OPTIMIZER),
        .isa = t->isa,
        .momentum = config_number(t->config, OPT_MOMENTUM),
        .weight_decay = config_number(t->config, OPT_WEIGHT_DECAY),
        .beta1 = config_number(t->config, OPT_BETA1),
        .beta2 = config_number(t->config, OPT_BETA2),
        .epsilon = config_number(t->config, OPT_EPSILON),
        .nesterov = config_int(t->config, OPT_NESTEROV) != 0,
        .decoupled = config_int(t->config, OPT_DECOUPLED_DECAY) != 0,
        .trust = config_number(t->config, OPT_TRUST),
        .clip_norm = config_number(t->config, OPT_CLIP_NORM),
        .n = t->desc->n_params,
        .tensors = t->desc->tensors,
        .n_tensors = t->desc->n_tensors,
    };
    struct strategy_config config;
    enum option_id at;
    if (config_strategy(t->config, &config, &at, e) != OK ||
        config_check_servers(t->config, t->ranks, &at, e) != OK)
        return e->status;
    const struct sync_options options = {
        .comm = t->comm,
        .desc = t->desc,
        .config = config,
        .slots = optimizer_slots(t->optimizer.kind),
        .waiter = t->waiter,
        .exec = &t->exec,
        .before_update = before_update,
        .before_update_arg = t,
    };
    inject_sleep(&t->inject, INJECT_PHASE_start, 1);
    enum strategy_kind kind = (enum strategy_kind)config_int(t->config, OPT_STRATEGY);
    enum status status = algorithm_use(config.algorithm, e);
    if (status == OK)
        status = sync_create(&t->sync, kind, &options, e);
    if (status == OK) {
        t->optimizer.state = t->sync->arenas.state;
        net_init_params(t->desc, t->sync->arenas.params, t->exec.seed);
        status = sync_broadcast_params(t->sync, e);
    }
    if (status == OK)
        status = connect_overlap(t, e);
    return status == OK ? connect_batch_norm(t, e) : status;
}

void trainer_close(struct trainer *t)
{
    overlap_close(t->overlap);
    group_close(&t->group);
    sync_destroy(t->sync);
    net_destroy(t->net);
    mem_free(t->images);
    mem_free(t->augmented);
    mem_free(t->labels);
    mem_free(t->eval_samples);
    mem_free(t->eval_classes);
    sampler_close(&t->sampler);
}

static int64_t process_cpu_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static struct range op_range(const struct trainer *t, int op)
{
    struct range range;
    net_op_tensors(t->net, op, &range.first, &range.last);
    return range;
}

/* Images that are changed are copied first; others are read where they lie. */
static void load(struct trainer *t, const struct batch *batch)
{
    size_t image_bytes = shape_count(t->desc->input);
    t->exec.samples = batch->samples;
    if (augments(t)) {
        data_gather(&t->data->train, image_bytes, batch->samples, batch->n, t->augmented,
                    t->labels);
        augment_batch(t->augmented, t->desc->input, batch->samples, batch->n, t->exec.seed,
                      t->exec.epoch);
        net_load(t->net, &t->exec, 0, (int)batch->n, t->augmented);
        return;
    }
    data_locate(&t->data->train, image_bytes, batch->samples, batch->n, t->images, t->labels);
    net_load_each(t->net, &t->exec, 0, (int)batch->n, t->images);
}

/* A rank whose share of a batch is empty still takes part in what the strategy does with
 * parameters. */
static enum status forward(struct trainer *t, const struct batch *batch, struct error *e)
{
    for (int op = 0; op < net_ops(t->net); op++) {
        struct range range = op_range(t, op);
        TRY(sync_params_needed(t->sync, range, PASS_FORWARD, e));
        overlap_compute_begin(t->overlap);
        if (batch->n > 0)
            net_forward(t->net, &t->exec, 0, op, op + 1, t->sync->arenas.params);
        overlap_compute_end(t->overlap);
        sync_params_done(t->sync, range, PASS_FORWARD);
    }
    return OK;
}

static void clear_gradients(const struct trainer *t, struct range range, real *grads)
{
    for (int i = range.first; i < range.last; i++) {
        const struct tensor_desc *tensor = &t->desc->tensors[i];
        memset(grads + tensor->offset, 0, tensor->count * sizeof *grads);
    }
}

static enum status backward(struct trainer *t, const struct batch *batch, struct error *e)
{
    for (int op = net_ops(t->net) - 1; op >= 0; op--) {
        struct range range = op_range(t, op);
        TRY(sync_params_needed(t->sync, range, PASS_BACKWARD, e));
        real *grads = sync_grad_buffer(t->sync, range);
        overlap_compute_begin(t->overlap);
        if (batch->n > 0)
            net_backward(t->net, &t->exec, 0, op, op + 1, t->sync->arenas.params, grads);
        else
            clear_gradients(t, range, grads);
        overlap_compute_end(t->overlap);
        sync_params_done(t->sync, range, PASS_BACKWARD);
        if (range.first < range.last && sync_grad_ready(t->sync, range, 0, true, e) != OK)
            return e->status;
    }
    return OK;
}

/* A rank without images still takes part in the sums of batch norm, with one that counts
 * nothing. */
static struct batch batch_of(struct trainer *t, uint32_t epoch, uint32_t step)
{
    static const uint32_t any_sample = 0;
    static const real no_weight = 0;
    struct batch batch = sampler_get(&t->sampler, epoch, step);
    if (batch.n == 0 && t->group.open) {
        batch.n = 1;
        batch.samples = &any_sample;
        batch.weights = &no_weight;
    }
    return batch;
}

/* Where ranks step by themselves a rank's samples are the global count over the ranks, also where
 * its own are one more or less: then the mean over ranks is that over all images, as in a sum. */
static double gradient_scale(const struct trainer *t, const struct batch *batch)
{
    bool local = (sync_flags(t->sync) & STRATEGY_LOCAL_MEAN) != 0;
    return (local ? t->ranks : 1.0) / batch->global;
}

/* The parts of a step, one after the other. */
struct lap {
    const struct sync_times *sync;
    int64_t begin_ns, sync_ns; /* where the part began */
};

/* What this step's synchronisation has taken of the computing thread so far. */
static int64_t sync_ns(const struct sync_times *times)
{
    return times->comm_exposed_ns + times->pack_ns + times->optimizer_ns;
}

/* Nanoseconds of the part that ends here, synchronisation left out. */
static int64_t lap_end(struct lap *lap)
{
    int64_t now_ns = clock_ns(), now_sync_ns = sync_ns(lap->sync);
    int64_t taken_ns = now_ns - lap->begin_ns - (now_sync_ns - lap->sync_ns);
    lap->begin_ns = now_ns;
    lap->sync_ns = now_sync_ns;
    return taken_ns;
}

/* Sleeps inside a part of the step that is under way, as an own part of it. */
static int64_t inject_now(const struct trainer *t, enum inject_phase phase, struct lap *lap)
{
    int64_t slept_ns = inject_sleep(&t->inject, phase, t->steps_done + 1);
    lap->begin_ns += slept_ns;
    return slept_ns;
}

/* Forward, loss and backward of a batch that has been loaded. */
static enum status compute(struct trainer *t, const struct batch *batch, struct lap *lap,
                           struct step_record *record, struct error *e)
{
    TRY(forward(t, batch, e));
    if (batch->n > 0) {
        record->score =
            net_loss(t->net, &t->exec, 0, t->labels, batch->weights, gradient_scale(t, batch));
    }
    record->inject_ns += inject_now(t, INJECT_PHASE_forward, lap);
    record->forward_ns = lap_end(lap);
    TRY(backward(t, batch, e));
    record->inject_ns += inject_now(t, INJECT_PHASE_backward, lap);
    record->backward_ns = lap_end(lap);
    record->inject_ns += inject_now(t, INJECT_PHASE_sync, lap);
    return group_check(&t->group, e);
}

enum status trainer_step(struct trainer *t, uint32_t epoch, uint32_t step,
                         struct step_record *record, struct error *e)
{
    *record = (struct step_record){.epoch = epoch, .step = step};
    int64_t cpu_ns = process_cpu_ns(), poll_ns = t->waiter->poll_ns;
    record->begin_ns = clock_ns();

    struct batch batch = batch_of(t, epoch, step);
    t->exec.epoch = epoch;
    t->exec.weights = batch.weights;
    overlap_step_begin(t->overlap);
    sync_step_begin(t->sync);
    t->update_slept_ns = 0;
    struct lap lap = {.sync = &t->sync->times, .begin_ns = record->begin_ns};
    if (batch.n > 0)
        load(t, &batch);
    record->inject_ns += inject_now(t, INJECT_PHASE_load, &lap);
    record->load_ns = lap_end(&lap);

    enum status status = compute(t, &batch, &lap, record, e);
    t->steps_done++;
    t->batches_tracked += !t->exec.fixed_statistics;
    double lr = trainer_lr(t);
    if (status == OK)
        status = sync_step_end(t->sync, &t->optimizer, t->steps_done, lr, e);
    overlap_step_end(t->overlap);

    record->inject_ns += t->update_slept_ns;
    record->end_ns = clock_ns();
    record->sync = t->sync->times;
    record->poll_ns = t->waiter->poll_ns - poll_ns;
    record->cpu_ns = process_cpu_ns() - cpu_ns;
    return status;
}

double trainer_lr(const struct trainer *t)
{
    return schedule_lr(t->config, t->ranks, t->sampler.steps, t->steps_done);
}

uint64_t trainer_hash(const struct trainer *t)
{
    const struct arenas *a = &t->sync->arenas;
    uint64_t hash = XXH3_64bits(a->params, a->n * sizeof(real));
    if (!t->group.open)
        return hash;
    return XXH3_64bits_withSeed(a->buffers, a->n_buffers * sizeof(real), hash);
}

double trainer_wrong_weight(const struct trainer *t)
{
    const struct arenas *a = &t->sync->arenas;
    for (size_t i = 0; i < a->n; i++)
        if (!isfinite((double)a->params[i]))
            return (double)a->params[i];
    return 0;
}

enum status trainer_sum_scores(struct trainer *t, struct score *score, struct error *e)
{
    double sums[3] = {score->loss_sum, score->correct, score->samples};
    enum status status =
        wait_allreduce(t->waiter, sums, 3, MPI_DOUBLE, MPI_SUM, t->comm, "sum of the scores", e);
    *score = (struct score){sums[0], (uint32_t)sums[1], (uint32_t)sums[2]};
    return status;
}

static enum status sum_classes(struct trainer *t, struct class_counts *c, struct error *e)
{
    uint32_t sums[2 * DATA_CLASSES_MAX];
    int n = c->n;
    memcpy(sums, c->samples, (size_t)n * sizeof *sums);
    memcpy(sums + n, c->correct, (size_t)n * sizeof *sums);
    enum status status = wait_allreduce(t->waiter, sums, 2 * n, MPI_UINT32_T, MPI_SUM, t->comm,
                                        "sum of the counts of classes", e);
    memcpy(c->samples, sums, (size_t)n * sizeof *sums);
    memcpy(c->correct, sums + n, (size_t)n * sizeof *sums);
    return status;
}

/* Counts the n images from `first` that the net has just seen. */
static void count_classes(struct trainer *t, size_t first, size_t n, struct class_counts *counts)
{
    net_classify(t->net, 0, t->eval_classes);
    for (size_t i = 0; i < n; i++) {
        counts->samples[t->labels[i]]++;
        counts->correct[t->labels[i]] += t->eval_classes[i] == t->labels[i];
    }
    if (t->predictions != NULL)
        memcpy(t->predictions + first, t->eval_classes, n * sizeof *t->predictions);
}

/* Scores of images [first, first + n) of a part. */
static struct score evaluate_slice(struct trainer *t, const struct data_part *part, size_t first,
                                   size_t n, struct class_counts *classes)
{
    for (size_t i = 0; i < n; i++)
        t->eval_samples[i] = (uint32_t)(first + i);
    t->exec.samples = t->eval_samples;
    data_locate(part, shape_count(t->desc->input), t->eval_samples, n, t->images, t->labels);
    net_load_each(t->net, &t->exec, 0, (int)n, t->images);
    net_forward(t->net, &t->exec, 0, 0, net_ops(t->net), t->sync->arenas.params);
    count_classes(t, first, n, classes);
    return net_loss(t->net, &t->exec, 0, t->labels, NULL, 0);
}

enum status trainer_evaluate(struct trainer *t, const struct data_part *part, struct score *score,
                             struct class_counts *classes, struct error *e)
{
    inject_sleep(&t->inject, INJECT_PHASE_evaluation, t->steps_done);
    TRY(sync_eval_begin(t->sync, e));
    if (batch_norm_of(t) == BATCH_NORM_local && t->desc->n_buffers > 0 &&
        sync_broadcast_buffers(t->sync, e) != OK)
        return e->status;
    size_t begin, end;
    pool_share(part->n, (size_t)t->rank, (size_t)t->ranks, &begin, &end);
    *score = (struct score){0};
    *classes = (struct class_counts){.n = t->data->classes};
    t->exec.training = false;
    for (size_t i = begin; i < end; i += t->sampler.n_max) {
        size_t n = end - i < t->sampler.n_max ? end - i : t->sampler.n_max;
        struct score slice = evaluate_slice(t, part, i, n, classes);
        score->loss_sum += slice.loss_sum;
        score->correct += slice.correct;
        score->samples += slice.samples;
    }
    t->exec.training = true;
    if (sync_eval_end(t->sync, e) != OK || sum_classes(t, classes, e) != OK)
        return e->status;
    return trainer_sum_scores(t, score, e);
}
