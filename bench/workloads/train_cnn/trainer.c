/* Executes one training step: forward, backward, gradient synchronisation, optimizer. */
#include "bench/workloads/train_cnn/trainer.h"

#include <math.h>
#define XXH_INLINE_ALL /* XXH3 is used as a header-only library */
#include <xxhash.h>

#include "bench/workloads/train_cnn/parts/learning_rate.h"
#include "comm/compress.h"
#include "comm/local_ops.h"
#include "kernels/base/clock.h"
#include "kernels/base/mem.h"

/* Raises *most_mib to the resident size (MiB) of an arena of n numbers. A size replaces NAN in
 * *most_mib. An unknown size makes *most_mib NAN. */
static void keep_most(double *most_mib, const real *arena, size_t n)
{
    double now_mib = mem_resident_mib(arena, n * sizeof *arena);
    if (!(now_mib <= *most_mib))
        *most_mib = now_mib;
}

static void measure_arenas(struct record_end *most, const struct sync *s)
{
    const struct arenas *a = &s->arenas;
    if (most == NULL)
        return;
    keep_most(&most->params_mib, a->params, a->n);
    keep_most(&most->grads_mib, a->grads, a->n);
    keep_most(&most->state_mib, a->state, (size_t)a->slots * a->n);
}

/* Runs an op without strategy hooks. */
static void run_op(struct trainer *t, const struct batch *batch, enum pass pass, int op,
                   real *grads)
{
    struct timeline *timeline = t->job.waiter->timeline;
    overlap_compute_begin(t->overlap);
    int64_t begin_ns = timeline_now(timeline);
    if (pass == PASS_FORWARD)
        work_forward(t, batch, op);
    else
        work_backward(t, batch, op, grads);
    int64_t end_ns = timeline_now(timeline);
    overlap_compute_end(t->overlap);
    if (timeline != NULL)
        timeline_add(timeline, pass == PASS_FORWARD ? PHASE_forward : PHASE_backward,
                     t->op_names[op], begin_ns, end_ns);
}

/* Runs one op, with the strategy's hooks before and after the op. If `batch` is NULL, calls only
 * the hooks. */
static enum status pass_op(struct trainer *t, const struct batch *batch, enum pass pass, int op,
                           struct range range, struct error *e)
{
    TRY(sync_params_needed(t->sync, range, pass, e));
    real *grads = pass == PASS_BACKWARD ? sync_grad_buffer(t->sync, range) : NULL;
    if (batch != NULL) {
        run_op(t, batch, pass, op, grads);
        TRY(slice_after_op(&t->model, pass, op, batch->n, e));
    }
    measure_arenas(t->arena_use, t->sync);
    sync_params_done(t->sync, range, pass);
    return OK;
}

enum status trainer_forward(struct trainer *t, const struct batch *batch, struct error *e)
{
    for (int op = t->model.stage.first; op < t->model.stage.last; op++)
        TRY(pass_op(t, batch, PASS_FORWARD, op, work_op_range(t, op), e));
    return OK;
}

/* Adds the squared norm of this rank's gradients of tensors `range` to own_norm2. Must be called
 * before sync_grad_ready, which may overwrite the gradients. */
static void add_own_squares(struct trainer *t, struct range range)
{
    const struct span span = span_of(&t->sync->arenas, range);
    if (t->noise != NULL)
        t->own_norm2 +=
            local_norm2(t->sync->exec, sync_grad_buffer(t->sync, range) + span.begin, span.n);
}

enum status trainer_backward(struct trainer *t, const struct batch *batch, int micro, bool last,
                             struct error *e)
{
    for (int op = t->model.stage.last - 1; op >= t->model.stage.first; op--) {
        struct range range = work_op_range(t, op);
        TRY(pass_op(t, batch, PASS_BACKWARD, op, range, e));
        if (range.first == range.last)
            continue;
        if (last)
            add_own_squares(t, range);
        TRY(sync_grad_ready(t->sync, range, micro, last, e));
    }
    return OK;
}

/* Returns the factor on the loss gradient, including the loss scale. With STRATEGY_OWN_MEAN,
 * gradients are divided by the number of this rank's images. Otherwise, with STRATEGY_LOCAL_MEAN or
 * if sync.scale is not loss, they are divided by global batch / replicas. In all other cases they
 * are divided by the global batch, so that their sum over replicas is the mean over all images. */
static double gradient_scale(const struct trainer *t, const struct batch *batch)
{
    unsigned flags = sync_flags(t->sync);
    bool local = (flags & STRATEGY_LOCAL_MEAN) || t->sync->config.scale != GRADIENT_SCALE_loss;
    if (flags & STRATEGY_OWN_MEAN)
        return t->sync->loss_scale.value / fmax(1, t->batches.own_images);
    return t->sync->loss_scale.value * (local ? t->job.grid.replicas : 1.0) / batch->global;
}

/* Stopwatch that splits a step into consecutive parts. */
struct lap {
    const struct trainer *trainer;
    int64_t begin_ns, sync_ns; /* begin_ns: start of the current part. sync_ns: value of sync_ns()
                                  at that start, that is, the time spent on synchronisation in the
                                  earlier parts of the step */
};

/* Returns the time (ns) that the computing thread has spent on synchronisation in this step so far:
 * exposed communication, packing and the optimizer. Includes sleeps injected before updates, since
 * a parameter server may update between ops. */
static int64_t sync_ns(const struct trainer *t)
{
    const struct sync_times *times = &t->sync->times;
    return times->comm_exposed_ns + times->pack_ns + times->optimizer_ns + t->update_sleep.slept_ns;
}

/* Ends the current part of the step and begins the next. Returns the time (ns) of the ended part,
 * excluding synchronisation. */
static int64_t lap_end(struct lap *lap)
{
    int64_t now_ns = clock_ns(), now_sync_ns = sync_ns(lap->trainer);
    int64_t taken_ns = now_ns - lap->begin_ns - (now_sync_ns - lap->sync_ns);
    lap->begin_ns = now_ns;
    lap->sync_ns = now_sync_ns;
    return taken_ns;
}

/* Sleeps, or kills this process, if the options inject.* request it in this phase of the current
 * step. Excludes the sleep from the part of the step that *lap is timing. Returns the time slept
 * (ns). */
static int64_t inject_now(const struct trainer *t, enum inject_phase phase, struct lap *lap)
{
    int64_t slept_ns = inject_sleep(&t->inject, phase, t->steps_done + 1);
    trainer_add_sleep(t, slept_ns);
    lap->begin_ns += slept_ns;
    return slept_ns;
}

void trainer_add_sleep(const struct trainer *t, int64_t slept_ns)
{
    if (slept_ns > 0)
        timeline_end(t->job.waiter->timeline, PHASE_inject, "sleep", clock_ns() - slept_ns);
}

/* Prepares the trainer for the forward or backward pass of `batch`, which is micro-batch number
 * `micro` of the step. */
static void take_micro(struct trainer *t, const struct batch *batch, int micro)
{
    t->model.slot = stage_slot_of(&t->model.stage, micro);
    t->model.exec.weights = batch->weights;
    t->model.exec.samples = batch->samples;
    t->model.exec.accumulate = micro > 0;
    work_micro_begin(t, batch);
}

/* Excludes waits for other stages from the part of the step that *lap is timing. `waited_ns`: value
 * of stage.waited_ns before these waits. */
static void leave_out_wait(const struct trainer *t, int64_t waited_ns, struct lap *lap)
{
    lap->begin_ns += t->model.stage.waited_ns - waited_ns;
}

static bool is_last(const struct trainer *t, int micro)
{
    return micro + 1 == t->model.stage.micros;
}

/* Loads a micro-batch and computes forward and loss. */
static enum status forward_micro(struct trainer *t, const struct batch *batch, int micro,
                                 struct lap *lap, struct step_record *record, struct error *e)
{
    int64_t waited_ns = t->model.stage.waited_ns;
    TRY(stage_forward_begin(&t->model.stage, micro, e));
    leave_out_wait(t, waited_ns, lap);
    int64_t load_ns = timeline_now(t->job.waiter->timeline);
    work_load(t, batch);
    timeline_end(t->job.waiter->timeline, PHASE_load, "batch", load_ns);
    if (micro == 0)
        record->line.inject_ns += inject_now(t, INJECT_PHASE_load, lap);
    record->line.load_ns += lap_end(lap);
    TRY(trainer_forward(t, batch, e));
    int64_t loss_ns = timeline_now(t->job.waiter->timeline);
    struct score score = work_loss(t, batch, gradient_scale(t, batch));
    timeline_end(t->job.waiter->timeline, PHASE_forward, "loss", loss_ns);
    if (t->job.grid.slice == 0) /* all slices compute the same score, so only one adds it */
        trainer_add_score(&record->score, &score);
    if (is_last(t, micro))
        record->line.inject_ns += inject_now(t, INJECT_PHASE_forward, lap);
    TRY(stage_forward_end(&t->model.stage, micro, e));
    record->line.forward_ns += lap_end(lap);
    return OK;
}

/* Runs backward on a micro-batch. Gradients of the step's micro-batches add up. */
static enum status backward_micro(struct trainer *t, const struct batch *batch, int micro,
                                  struct lap *lap, struct step_record *record, struct error *e)
{
    int64_t waited_ns = t->model.stage.waited_ns;
    TRY(stage_backward_begin(&t->model.stage, micro, e));
    leave_out_wait(t, waited_ns, lap);
    TRY(trainer_backward(t, batch, micro, is_last(t, micro), e));
    if (is_last(t, micro))
        record->line.inject_ns += inject_now(t, INJECT_PHASE_backward, lap);
    TRY(stage_backward_end(&t->model.stage, micro, e));
    record->line.backward_ns += lap_end(lap);
    t->batches_tracked += !t->model.exec.fixed_statistics;
    return OK;
}

/* Computes forward and backward of all micro-batches in the order of the pipeline schedule.
 * Overlapped gradient sums start during the last micro-batch. */
static enum status compute(struct trainer *t, const struct batch *all, struct lap *lap,
                           struct step_record *record, struct error *e)
{
    const uint32_t n = sampler_micro_batches(&t->batches.sampler, all, t->batches.accumulate);
    t->batches.own_images = batch_counted(all);
    TRY(stage_step_begin(&t->model.stage, all, (int)n, e));
    for (int i = 0; i < 2 * (int)n; i++) {
        const struct pipeline_task task = pipeline_task(t->model.stage.schedule, t->job.grid.stage,
                                                        t->job.grid.stages, (int)n, i);
        const struct batch batch = stage_micro_batch(&t->model.stage, task.micro);
        take_micro(t, &batch, task.micro);
        if (task.backward)
            TRY(backward_micro(t, &batch, task.micro, lap, record, e));
        else
            TRY(forward_micro(t, &batch, task.micro, lap, record, e));
    }
    record->line.inject_ns += inject_now(t, INJECT_PHASE_sync, lap);
    return group_check(&t->group, e);
}

/* Returns the number of weight updates, including the update that ends the current step. A step
 * skipped after an overflow is no update. */
static uint64_t updates(const struct trainer *t)
{
    return t->steps_done - t->sync->loss_scale.skipped;
}

double trainer_loss_scale(const struct trainer *t)
{
    return t->sync->config.precision == PRECISION_fp16 ? t->sync->loss_scale.value : NAN;
}

/* Runs the optimizer and updates the loss scale. */
static enum status update(struct trainer *t, struct step_record *record, struct error *e)
{
    struct sync *s = t->sync;
    t->steps_done++;
    record->line.loss_scale = trainer_loss_scale(t);
    TRY(sync_step_end(s, &t->optimizer, updates(t), trainer_lr(t), e));
    record->line.skipped = s->overflow;
    loss_scale_update(&s->loss_scale, s->overflow);
    return OK;
}

/* Adds the squared norms of the step's mean gradients (over own images, over all images) to
 * t->noise. Skips a smaller last batch, since all added steps must have equal batches. */
static void add_noise(struct trainer *t, const struct batch *batch, uint32_t step)
{
    const struct sampler *s = &t->batches.sampler;
    const struct sync *sync = t->sync;
    double own = t->batches.own_images, ranks = sync->ranks;
    double images = gradient_scale(t, batch) * own;
    double parts = sync->config.scale == GRADIENT_SCALE_post ? ranks : 1;
    if (t->noise == NULL || (uint64_t)(step + 1) * s->global_batch > s->n_samples)
        return;
    noise_add(t->noise, t->own_norm2 / (images * images), own,
              ranks * sync->sum_norm2 / (parts * parts), batch->global);
}

static void fill_line(struct record_step *line, const struct trainer *t, const struct score *score)
{
    const struct sync_times *times = &t->sync->times;
    line->samples = score->samples;
    line->correct = score->correct;
    line->loss_sum = score->loss_sum;
    line->pack_ns = times->pack_ns;
    line->comm_total_ns = times->comm_total_ns;
    line->comm_exposed_ns = times->comm_exposed_ns;
    line->optimizer_ns = times->optimizer_ns;
    line->arrive_ns = times->arrive_ns;
    line->progress_ns = times->poll_ns;
    line->late_ns = t->replayed != NULL ? t->replayed->pace.late_ns : 0;
    line->replayed_ns = t->replayed != NULL ? work_replayed_ns(t) : 0;
    line->bubble_ns = t->model.stage.waited_ns;
    line->batch_norm_ns = t->group.sum_ns;
}

enum status trainer_step(struct trainer *t, uint32_t epoch, uint32_t step,
                         struct step_record *record, struct error *e)
{
    struct record_step *line = &record->line;
    *record = (struct step_record){.line = {.epoch = epoch, .step = step}};
    TRY(timeline_begin(t->job.waiter->timeline, e));
    int64_t cpu_ns = clock_process_ns(), poll_ns = t->job.waiter->poll_ns;
    line->begin_ns = clock_ns();

    const struct batch batch = sampler_get(&t->batches.sampler, epoch, step);
    t->model.exec.epoch = epoch;
    overlap_step_begin(t->overlap);
    sync_step_begin(t->sync);
    t->model.slice.bytes_sent = 0;
    group_step_begin(&t->group);
    t->own_norm2 = 0;
    t->update_sleep.slept_ns = 0;
    t->update_sleep.thread = pthread_self();
    struct lap lap = {.trainer = t, .begin_ns = line->begin_ns};
    work_step_begin(t, &batch);

    enum status status = compute(t, &batch, &lap, record, e);
    THEN(status, update(t, record, e));
    overlap_step_end(t->overlap);
    THEN(status, stage_step_end(&t->model.stage, e));

    line->inject_ns += t->update_sleep.slept_ns;
    line->end_ns = clock_ns();
    timeline_add(t->job.waiter->timeline, PHASE_step, "step", line->begin_ns, line->end_ns);
    work_step_end(t, t->sync->times.optimizer_ns);
    line->poll_ns = t->job.waiter->poll_ns - poll_ns;
    record->cpu_ns = clock_process_ns() - cpu_ns;
    fill_line(line, t, &record->score);
    add_noise(t, &batch, step);
    return status;
}

double trainer_lr(const struct trainer *t)
{
    int64_t step = (int64_t)(updates(t) - t->steps_aside);
    return learning_rate(t->config, t->job.grid.replicas, t->batches.sampler.steps,
                         step > 0 ? (uint64_t)step : 1);
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

void trainer_add_score(struct score *sum, const struct score *score)
{
    sum->loss_sum += score->loss_sum;
    sum->correct += score->correct;
    sum->samples += score->samples;
}

enum status trainer_sum_scores(const struct job *job, struct score *score, struct error *e)
{
    double sums[3] = {score->loss_sum, score->correct, score->samples};
    TRY(wait_allreduce(job->waiter, sums, 3, MPI_DOUBLE, MPI_SUM, job->comm, "sum of the scores",
                       e));
    *score = (struct score){sums[0], (uint32_t)sums[1], (uint32_t)sums[2]};
    return OK;
}

enum status trainer_sum_noise(const struct trainer *t, struct noise_estimate *estimate,
                              struct error *e)
{
    struct noise_sums *sums = t->noise;
    *estimate = (struct noise_estimate){NAN, NAN};
    if (sums == NULL)
        return OK;
    TRY(wait_allreduce(t->job.waiter, sums, sizeof *sums / sizeof(double), MPI_DOUBLE, MPI_SUM,
                       t->job.comm, "squares of gradients", e));
    *estimate = noise_estimate(sums);
    *sums = (struct noise_sums){0};
    return OK;
}
