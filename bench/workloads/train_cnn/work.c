#include "bench/workloads/train_cnn/work.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/workloads/data/augment.h"
#include "bench/workloads/train_cnn/trainer.h"
#include "kernels/base/clock.h"
#include "kernels/base/mem.h"

/* ---- Opening ---- */

/* Maximum number of calibrated steps, enough to cover variation between steps. */
#define STEPS_MOST 1000

/* Ranks of a node that replay the same calibration file begin this many calibrated steps apart. */
#define STEPS_APART 17

static struct calibrated_work work_of(const struct trainer *t)
{
    struct calibrated_work work = {.params = (int64_t)t->model.desc->n_params,
                                   .images = (int)t->batches.sampler.n_max,
                                   .micro_batches = (int)t->batches.accumulate,
                                   .threads = pool_threads(t->model.exec.pool)};
    snprintf(work.model, sizeof work.model, "%s", t->model.desc->name);
    snprintf(work.plan, sizeof work.plan, "%s", config_text(t->config, OPT_KERNELS));
    snprintf(work.optimizer, sizeof work.optimizer, "%s", config_text(t->config, OPT_OPTIMIZER));
    return work;
}

static enum status open_times(const struct trainer *t, struct calibration *c, int steps,
                              struct error *e)
{
    const struct calibrated_work work = work_of(t);
    TRY(calibration_open(c, &work, net_ops(t->model.net), steps, e));
    for (int op = 0; op < c->n_ops; op++) {
        struct calibrated_op *to = &c->ops[op];
        snprintf(to->name, sizeof to->name, "%s", net_op_name(t->model.net, op));
        net_op_tensors(t->model.net, op, &to->first, &to->last);
    }
    return OK;
}

/* Computes the time of each op from its FLOPs and a rate in GFLOP/s per thread. Loading, the loss,
 * the optimizer and ops without FLOPs get time 0. */
static enum status make_times(const struct trainer *t, struct calibration *c, double gflops,
                              struct error *e)
{
    TRY(open_times(t, c, 1, e));
    int64_t *row = calibration_row(c);
    double ns_per_flop = c->work.images / (gflops * c->work.threads);
    for (int op = 0; op < c->n_ops; op++) {
        struct net_op_view view = net_op_view(t->model.net, 0, op);
        row[calibration_part(c, PART_FORWARD, op)] =
            llround((double)view.flops_forward * ns_per_flop);
        row[calibration_part(c, PART_BACKWARD, op)] =
            llround((double)view.flops_backward * ns_per_flop);
    }
    calibration_keep(c);
    return OK;
}

/* Reads the times of a calibrated rank, chosen by this rank's number within its node. Ranks of a
 * node that read the same file begin at different steps, so that their noise differs. */
static enum status read_times(struct trainer *t, struct replayed_work *r, const char *folder,
                              struct error *e)
{
    int ranks = calibration_ranks(folder), own = t->job.waiter->node_rank;
    const struct calibrated_work work = work_of(t);
    TRY(calibration_read(&r->calibration, folder, ranks > 0 ? own % ranks : 0, e));
    TRY(calibration_check(&r->calibration, &work, folder, e));
    for (int op = 0; op < r->calibration.n_ops; op++)
        if (r->calibration.ops[op].last > t->model.desc->n_tensors)
            return error_set(e, ERR_DATA,
                             "%s: op %d uses tensors up to number %d, but this network has only "
                             "%d. Use a calibration of this network",
                             folder, op + 1, r->calibration.ops[op].last, t->model.desc->n_tensors);
    r->first = (uint64_t)(own / ranks) * STEPS_APART;
    snprintf(r->from, sizeof r->from, "%s", calibration_name(folder));
    return OK;
}

static enum status open_replay(struct trainer *t, struct error *e)
{
    TRY(MEM_NEW(t->replayed, 1, "replay of computing", e));
    struct replayed_work *r = t->replayed;
    if (t->work.calibration != NULL) {
        TRY(read_times(t, r, t->work.calibration, e));
    } else {
        TRY(make_times(t, &r->calibration, t->work.gflops, e));
        snprintf(r->from, sizeof r->from, "%g GFLOP/s", t->work.gflops);
    }
    pace_open(&r->pace);
    r->pace.poll_ns = OVERLAP_TILE_NS;
    r->own_core = t->job.waiter->kind != WAIT_YIELD;
    return MEM_NEW(r->writing_ns, (size_t)r->calibration.n_ops, "replay of computing", e);
}

enum status work_open(struct trainer *t, struct error *e)
{
    long steps = config_int(t->config, OPT_TIME_STEPS);
    if (work_is_replayed(&t->work))
        return open_replay(t, e);
    if (!t->work.calibrate)
        return OK;
    TRY(MEM_NEW(t->times, 1, "times of ops", e));
    return open_times(t, t->times, steps < STEPS_MOST ? (int)steps : STEPS_MOST, e);
}

/* Makes random gradients for a compressor if this rank sleeps instead of computing (replayed
 * compute), because the compressor's time depends on the values. Without a compressor, gradients
 * stay 0, since other values could overflow when they are summed in place in every step. */
enum status work_connect(struct trainer *t, struct error *e)
{
    if (t->replayed == NULL || t->sync->compressor == NULL)
        return OK;
    size_t n = t->sync->arenas.n;
    TRY(MEM_NEW_ALIGNED(t->replayed->gradients, n, "random gradients", e));
    net_init_tensors(t->model.desc, t->model.stage.tensors.first, t->model.stage.tensors.last,
                     t->replayed->gradients, t->model.exec.seed + (uint64_t)t->job.rank + 1);
    return OK;
}

void work_close(struct trainer *t)
{
    if (t->replayed != NULL) {
        calibration_free(&t->replayed->calibration);
        mem_free(t->replayed->gradients);
        free(t->replayed->writing_ns);
    }
    if (t->times != NULL)
        calibration_free(t->times);
    free(t->replayed);
    free(t->times);
    t->replayed = NULL;
    t->times = NULL;
}

int work_ops(const struct trainer *t)
{
    return t->replayed != NULL ? t->replayed->calibration.n_ops : net_ops(t->model.net);
}

struct range work_net_range(const struct trainer *t, int op)
{
    struct range range;
    if (t->replayed != NULL) {
        const struct calibrated_op *of = &t->replayed->calibration.ops[op];
        return (struct range){of->first, of->last};
    }
    net_op_tensors(t->model.net, op, &range.first, &range.last);
    return range;
}

struct range work_op_range(const struct trainer *t, int op)
{
    const struct range of = work_net_range(t, op);
    const int first = of.first < of.last ? t->model.stage.tensors.first : of.first;
    return (struct range){of.first - first, of.last - first};
}

const real *work_op_weights(const struct trainer *t, int op, bool rounds)
{
    if (net_op_view(t->model.net, t->model.slot, op).bf16)
        return t->sync->arenas.params;
    return weights16_of(&t->model.weights, work_op_range(t, op), rounds);
}

/* ---- Replay ---- */

/* Returns the calibrated time (ns) of a part of the step, multiplied by `share`. */
static int64_t time_of(const struct replayed_work *r, enum calibration_part part, int op,
                       double share)
{
    return llround((double)r->row[calibration_part(&r->calibration, part, op)] * share);
}

/* Returns the optimizer's calibrated time (ns), scaled to `params` parameters. */
static double update_ns(const struct trainer *t, size_t params)
{
    const struct replayed_work *r = t->replayed;
    double share = (double)params / (double)t->model.desc->n_params;
    return (double)r->row[calibration_part(&r->calibration, PART_OPTIMIZER, 0)] * share;
}

static bool computes_loss(const struct trainer *t)
{
    return t->model.stage.last == work_ops(t);
}

int64_t work_replayed_ns(const struct trainer *t)
{
    const struct replayed_work *r = t->replayed;
    int64_t sum_ns = llround(update_ns(t, t->model.stage.held.n_params) * r->step_share);
    if (t->model.stage.first == 0)
        sum_ns += time_of(r, PART_LOAD, 0, r->step_share);
    if (computes_loss(t))
        sum_ns += time_of(r, PART_LOSS, 0, r->step_share);
    for (int op = t->model.stage.first; op < t->model.stage.last; op++) {
        sum_ns += time_of(r, PART_FORWARD, op, r->step_share);
        sum_ns += time_of(r, PART_BACKWARD, op, r->step_share);
    }
    return sum_ns;
}

/* Sleeps for the calibrated time of loading images or computing the loss (`part`). No other rank
 * waits for the end of this sleep, so the sleep need not be exact. It is exact (by busy-waiting)
 * only if the rank has a core to itself. */
static void pass(struct replayed_work *r, enum calibration_part part)
{
    pace_pass(&r->pace, time_of(r, part, 0, r->share), r->own_core);
}

/* Sleeps for `ns` in place of an op. Messages are tested meanwhile, as when the op is computed. */
static void pass_op(const struct trainer *t, int64_t ns, bool exact)
{
    struct replayed_work *r = t->replayed;
    r->pace.poll = t->model.exec.poll;
    r->pace.poll_arg = t->model.exec.poll_arg;
    pace_pass(&r->pace, ns, exact);
    r->pace.poll = NULL;
}

/* Returns whether the strategy communicates before or during each op, so that other ranks can
 * notice when an op ends. */
static bool is_seen(const struct trainer *t)
{
    return t->overlap != NULL || t->sync->strategy->params_needed != NULL;
}

/* Returns whether the op is the last of this stage and its output goes to the next pipeline
 * stage. */
static bool is_handed_on(const struct trainer *t, int op)
{
    return op + 1 == t->model.stage.last && !computes_loss(t);
}

static bool is_awaited(const struct trainer *t, int op)
{
    struct range range = work_op_range(t, op);
    return op == t->model.stage.first || is_seen(t) ||
           (range.first < range.last && t->sync->strategy->grad_ready != NULL);
}

/* Copies the gradients of an op's tensors from arena `from`; sets them to 0 if `from` is NULL. */
static void fill_gradients(const struct trainer *t, int op, real *grads, const real *from)
{
    struct range range = work_op_range(t, op);
    for (int i = range.first; i < range.last; i++) {
        const struct tensor_desc *tensor = &t->model.stage.held.tensors[i];
        if (from != NULL)
            memcpy(grads + tensor->offset, from + tensor->offset, tensor->count * sizeof *grads);
        else
            memset(grads + tensor->offset, 0, tensor->count * sizeof *grads);
    }
}

/* Sleeps for the time of a backward op, less the time spent on writing its gradients. Gradients are
 * written if a compressor needs them, or if the rank has a core to itself. Writing brings the
 * gradients into cache for the next sum, as computing them would. */
static void pass_backward(const struct trainer *t, int op, real *grads)
{
    struct replayed_work *r = t->replayed;
    int64_t ns = time_of(r, PART_BACKWARD, op, r->share), *writing_ns = &r->writing_ns[op];
    int64_t reserved_ns = *writing_ns < ns ? *writing_ns : ns;
    pass_op(t, ns - reserved_ns, false);
    int64_t begin_ns = clock_ns();
    if (r->gradients != NULL || r->own_core)
        fill_gradients(t, op, grads, r->gradients);
    int64_t taken_ns = clock_ns() - begin_ns;
    if (*writing_ns == 0 || taken_ns < *writing_ns)
        *writing_ns = taken_ns;
    r->pace.owed_ns -= taken_ns;
    pass_op(t, reserved_ns, is_awaited(t, op));
}

/* ---- Computing ---- */

/* Loads the images and labels of a micro-batch. Augmented copies are kept until backward; other
 * images are read in place. Stages after the first receive activations and load only labels. */
static void load(struct trainer *t, const struct batch *batch)
{
    size_t image_bytes = shape_count(t->model.desc->input);
    if (t->batches.augmented != NULL && t->model.stage.first == 0) {
        uint8_t *copies =
            t->batches.augmented + (size_t)t->model.slot * t->batches.micro_max * image_bytes;
        data_gather(&t->data->train, image_bytes, batch->samples, batch->n, copies,
                    t->batches.labels);
        augment_batch(copies, t->model.desc->input, batch->samples, batch->n, t->model.exec.seed,
                      t->model.exec.epoch);
        net_load(t->model.net, &t->model.exec, t->model.slot, (int)batch->n, copies);
        return;
    }
    data_locate(&t->data->train, image_bytes, batch->samples, batch->n, t->batches.images,
                t->batches.labels);
    if (t->model.stage.first == 0)
        net_load_each(t->model.net, &t->model.exec, t->model.slot, (int)batch->n,
                      t->batches.images);
    else
        net_expect(t->model.net, t->model.slot, (int)batch->n);
}

/* begin_part returns the time at which a part begins (ns); 0 if the run does not calibrate. In a
 * calibrating run, end_part adds the time since then to the part's total for this step. */
static int64_t begin_part(const struct trainer *t)
{
    return t->times != NULL ? clock_ns() : 0;
}

static void end_part(const struct trainer *t, enum calibration_part part, int op, int64_t begin_ns)
{
    const struct calibration *c = t->times;
    if (c != NULL)
        calibration_row(c)[calibration_part(c, part, op)] += clock_ns() - begin_ns;
}

/* ---- The parts ---- */

void work_step_begin(struct trainer *t, const struct batch *batch)
{
    struct replayed_work *r = t->replayed;
    if (t->times != NULL)
        memset(calibration_row(t->times), 0, (size_t)calibration_parts(t->times) * sizeof(int64_t));
    if (r == NULL)
        return;
    const struct calibration *c = &r->calibration;
    uint64_t row = (t->steps_done + r->first) % (uint64_t)c->n_steps;
    r->row = c->ns + row * (uint64_t)calibration_parts(c);
    r->step_share = (double)batch->n / c->work.images;
    pace_step_begin(&r->pace);
}

void work_micro_begin(struct trainer *t, const struct batch *batch)
{
    if (t->replayed != NULL)
        t->replayed->share = (double)batch->n / t->replayed->calibration.work.images;
}

void work_load(struct trainer *t, const struct batch *batch)
{
    if (t->replayed != NULL) {
        if (t->model.stage.first == 0)
            pass(t->replayed, PART_LOAD);
        return;
    }
    int64_t begin_ns = begin_part(t);
    if (batch->n > 0)
        load(t, batch);
    end_part(t, PART_LOAD, 0, begin_ns);
}

void work_forward(struct trainer *t, const struct batch *batch, int op)
{
    if (t->replayed != NULL) {
        pass_op(t, time_of(t->replayed, PART_FORWARD, op, t->replayed->share),
                is_seen(t) || is_handed_on(t, op));
        return;
    }
    int64_t begin_ns = begin_part(t);
    if (batch->n > 0)
        net_forward(t->model.net, &t->model.exec, t->model.slot, op, op + 1,
                    work_op_weights(t, op, true));
    end_part(t, PART_FORWARD, op, begin_ns);
}

struct score work_loss(struct trainer *t, const struct batch *batch, double gradient_scale)
{
    struct score score = {0};
    if (!computes_loss(t))
        return score;
    if (t->replayed != NULL) {
        pass(t->replayed, PART_LOSS);
        score.samples = batch_counted(batch);
        return score;
    }
    int64_t begin_ns = begin_part(t);
    if (batch->n > 0)
        score = net_loss(t->model.net, &t->model.exec, t->model.slot, t->batches.labels,
                         batch->weights, gradient_scale);
    end_part(t, PART_LOSS, 0, begin_ns);
    return score;
}

void work_backward(struct trainer *t, const struct batch *batch, int op, real *grads)
{
    if (t->replayed != NULL) {
        pass_backward(t, op, grads);
        return;
    }
    int64_t begin_ns = begin_part(t);
    if (batch->n > 0)
        net_backward(t->model.net, &t->model.exec, t->model.slot, op, op + 1,
                     work_op_weights(t, op, false), grads);
    else if (!t->model.exec.accumulate)
        fill_gradients(t, op, grads, NULL);
    end_part(t, PART_BACKWARD, op, begin_ns);
}

/* Sleeps for the optimizer's calibrated time, scaled to the number of parameters [begin, end). A
 * strategy that shards the optimizer passes only this rank's shard. */
void work_update(void *arg, size_t begin, size_t end)
{
    struct trainer *t = arg;
    struct replayed_work *r = t->replayed;
    pace_drop_overrun(&r->pace);
    pace_pass(&r->pace, llround(update_ns(t, end - begin)), true);
}

void work_step_end(struct trainer *t, int64_t optimizer_ns)
{
    if (t->times != NULL)
        calibration_row(t->times)[calibration_part(t->times, PART_OPTIMIZER, 0)] = optimizer_ns;
}

void work_keep(struct trainer *t)
{
    if (t->times != NULL)
        calibration_keep(t->times);
}
