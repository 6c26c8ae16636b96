/* Runs epochs and evaluations, or timed steps. Then compares the weights of all ranks, unless
 * measure.check is none or compute is replayed. */
#include "bench/workloads/train_cnn/run.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "bench/base/log.h"
#include "bench/workloads/train_cnn/replay.h"
#include "comm/clocks.h"
#include "kernels/base/clock.h"
#include "kernels/base/mem.h"
#include "kernels/peak.h"

static enum weights_check check_of(const struct run *r)
{
    if (r->trainer.replayed != NULL)
        return CHECK_none; /* if compute is replayed, weights have no meaning */
    return (enum weights_check)config_int(&r->arguments->config, OPT_CHECK);
}

/* Returns whether the weights of all ranks are compared directly. With STRATEGY_AVERAGED, weights
 * differ between ranks or are sharded. The function then returns false, and only the model that
 * sync_eval_begin makes at the end is compared. */
static bool has_replicas(const struct run *r)
{
    return (sync_flags(r->trainer.sync) & STRATEGY_AVERAGED) == 0;
}

static void add_to_window(struct run *r, const struct step_record *taken)
{
    struct record_end *end = &r->end;
    const struct record_step *line = &taken->line;
    if (end->timed_steps++ == 0)
        r->first_begin_ns = line->begin_ns;
    end->loop_ns = line->end_ns - r->first_begin_ns;
    end->window_ns += line->end_ns - line->begin_ns;
    end->window_cpu_ns += taken->cpu_ns;
    end->poll_ns += line->poll_ns;
}

/* Counts context switches and page faults since the first timed step. */
static void take_interruptions(struct run *r)
{
    struct rusage now;
    const struct rusage *before = &r->usage_begin;
    getrusage(RUSAGE_SELF, &now);
    r->end.switches_voluntary = (double)(now.ru_nvcsw - before->ru_nvcsw);
    r->end.switches_involuntary = (double)(now.ru_nivcsw - before->ru_nivcsw);
    r->end.faults_minor = (double)(now.ru_minflt - before->ru_minflt);
    r->end.faults_major = (double)(now.ru_majflt - before->ru_majflt);
}

/* Reads the traffic counters of the network interface and the energy counters of the processor
 * packages. After the timed steps, writes the increases of the counters to r->end. */
static enum status read_counters(struct run *r, struct error *e)
{
    double now[NIC_COUNTERS];
    const char *nic = r->arguments->nic;
    const bool ends = r->end.timed_steps > 0;
    if (ends)
        r->end.energy_j = energy_since_j(&r->energy);
    else
        energy_begin(&r->energy);
    if (nic == NULL)
        return OK;
    if (!nic_read(now, nic))
        return error_set(e, ERR_SYSTEM,
                         "--nic %s: the counters of this network interface are no longer readable",
                         nic);
    if (ends)
        nic_take(&r->end, r->nic, now);
    else
        memcpy(r->nic, now, sizeof now);
    return OK;
}

/* Reads counters between two barriers, before the timed steps (`timed` false) or after them (true).
 * After the first barrier, all messages have arrived. The second keeps ranks from sending before
 * all ranks have read their counters. Does nothing unless the run uses --nic, parameter servers or
 * energy measurement. */
static enum status synchronise(struct run *r, bool timed, struct error *e)
{
    static const char what[] = "ranks before or after the timed steps";
    if (r->arguments->nic == NULL && r->waiter.serve == NULL && !r->measures_energy)
        return OK;
    TRY(wait_barrier(&r->waiter, MPI_COMM_WORLD, what, e));
    traffic_between(&r->traffic, &r->waiter, timed);
    TRY(read_counters(r, e));
    return wait_barrier(&r->waiter, MPI_COMM_WORLD, what, e);
}

/* If `x` is the first non-finite value of the run, records it in r->progress, which checkpoints
 * save. `what`: name of the value, such as "loss". Training continues. */
static void watch_for_divergence(struct run *r, const char *what, double x)
{
    struct divergence *d = &r->progress.divergence;
    if (isfinite(x) || d->step > 0)
        return;
    d->step = r->trainer.steps_done;
    snprintf(d->text, sizeof d->text, "%s is %s", what, isnan(x) ? "nan" : "infinite");
}

/* Runs one step. Adds its loss, its number of correctly classified images and its number of images
 * to *score. `timed`: the step is one of the timed steps. `record`: the step is appended to r->log
 * (unless --no-steps). The measured step time excludes all bookkeeping. */
static enum status run_step(struct run *r, uint32_t epoch, uint32_t step, bool timed, bool record,
                            struct score *score, struct error *e)
{
    struct step_record taken;
    uint64_t hash = 0;
    if (timed && r->end.timed_steps == 0) {
        TRY(synchronise(r, false, e));
        getrusage(RUSAGE_SELF, &r->usage_begin);
    }
    traffic_step_begin(&r->traffic, &r->waiter);
    r->trainer.arena_use = !timed && isnan(r->end.params_mib) ? &r->end : NULL;
    TRY(trainer_step(&r->trainer, epoch, step, &taken, e));
    if (check_of(r) == CHECK_step)
        hash = has_replicas(r) ? hashes_add(&r->hashes, &r->trainer) : trainer_hash(&r->trainer);
    watch_for_divergence(r, "loss", taken.score.loss_sum);
    trainer_add_score(score, &taken.score);
    r->end.steps++;
    if (timed) {
        work_keep(&r->trainer);
        trace_keep(&r->trace, &taken);
        add_to_window(r, &taken);
        take_interruptions(r);
    }
    traffic_step_end(&r->traffic, &r->trainer, timed);
    if (!record || r->arguments->no_steps)
        return OK;
    if (r->log.n == r->log.capacity)
        TRY(step_log_write(&r->log, &r->recorder, e));
    taken.line.timed = timed ? VERDICT_TRUE : VERDICT_FALSE;
    snprintf(taken.line.hash, sizeof taken.line.hash, "%016" PRIx64, hash);
    r->log.steps[r->log.n++] = taken.line;
    return OK;
}

static void print_epoch(const struct run *r, uint32_t epoch, double seconds,
                        const struct score *train, const struct score *test)
{
    if (r->rank == 0) {
        printf("epoch %u/%ld  train loss %.4f  accuracy %.2f %%  test loss %.4f  accuracy %.2f %%  "
               "%.2f s  %.0f images/s\n",
               epoch + 1, config_int(&r->arguments->config, OPT_EPOCHS),
               train->loss_sum / train->samples, 100.0 * train->correct / train->samples,
               test->loss_sum / test->samples, 100.0 * test->correct / test->samples, seconds,
               train->samples / seconds);
        fflush(stdout);
    }
}

/* Runs the remaining steps of the epoch. Adds the time of data fetches and steps to
 * progress.seconds of the run, but not the time of hashes, records and checkpoints. */
static enum status run_steps(struct run *r, struct error *e)
{
    struct progress *p = &r->progress;
    r->log.n = 0; /* drops the previous epoch: only steps of the last epoch are recorded */
    inject_sleep(&r->trainer.inject, INJECT_PHASE_read, r->trainer.steps_done + 1);
    int64_t feed_ns = clock_ns();
    TRY(feed_epoch(&r->feed, &r->trainer.batches.sampler, p->epoch, e));
    p->seconds += clock_seconds_since(feed_ns);
    while (p->step < r->trainer.batches.sampler.steps) {
        int64_t before_ns = r->end.window_ns;
        bool record = p->step < RUN_RECORDED_STEPS;
        TRY(run_step(r, p->epoch, p->step, true, record, &p->train, e));
        p->step++;
        p->seconds += (double)(r->end.window_ns - before_ns) / 1e9;
        progress_file_write(&r->progress_file, r->trainer.steps_done, p->epoch, true);
        TRY(resume_after_step(&r->resume, &r->trainer, p, e));
    }
    return synchronise(r, true, e);
}

/* Adds a line to the record, and to the history that a checkpoint saves. */
static enum status add_kept(struct run *r, json_t *line, struct error *e)
{
    if (line != NULL)
        json_array_append(r->progress.history, line);
    return recorder_add(&r->recorder, line, e);
}

static enum status run_evaluation(struct run *r, struct score *test, struct error *e)
{
    struct class_counts classes;
    int64_t begin_ns = clock_ns();
    TRY(trainer_evaluate(&r->trainer, &r->trainer.data->test, test, &classes, e));
    double seconds = clock_seconds_since(begin_ns);
    watch_for_divergence(r, "test loss", test->loss_sum);
    return add_kept(r, report_eval(r->progress.epoch, seconds, test, &classes), e);
}

/* Returns the number of epochs, including those before a resume, until test accuracy first reached
 * the target; 0 if it did not. All ranks return the same number. */
static json_int_t epochs_to_target(const struct run *r)
{
    double target = config_number(&r->arguments->config, OPT_TARGET_ACC);
    size_t i;
    json_t *line;
    json_array_foreach(r->progress.history, i, line)
    {
        /* Training lines in the history have no test accuracy. */
        json_t *accuracy = json_object_get(line, "test_acc_pct");
        if (target > 0 && accuracy != NULL && json_number_value(accuracy) >= target)
            return json_integer_value(json_object_get(line, "epoch")) + 1;
    }
    return 0;
}

/* Returns the number of epochs after which this run ends at the latest. */
static uint32_t last_epoch(const struct run *r)
{
    uint32_t until = r->arguments->until,
             all = (uint32_t)config_int(&r->arguments->config, OPT_EPOCHS);
    return until > 0 && until < all ? until : all;
}

static bool is_trained(const struct run *r)
{
    return r->progress.epoch >= last_epoch(r) || epochs_to_target(r) > 0;
}

static enum status run_epoch(struct run *r, struct error *e)
{
    struct trainer *t = &r->trainer;
    struct progress *p = &r->progress;
    struct score test;
    struct noise_estimate noise;
    /* one hash per step, and one for the end of the run */
    TRY(hashes_reserve(&r->hashes, t->batches.sampler.steps + 1, e));
    TRY(run_steps(r, e));
    TRY(trainer_sum_scores(&t->job, &p->train, e));
    TRY(trainer_sum_noise(t, &noise, e));
    TRY(add_kept(r, report_epoch(t, p, &noise), e));
    TRY(run_evaluation(r, &test, e));
    print_epoch(r, p->epoch, p->seconds, &p->train, &test);
    p->epoch++;
    p->step = 0;
    p->train = (struct score){0};
    p->seconds = 0;
    progress_file_write(&r->progress_file, t->steps_done, p->epoch, false);
    return resume_after_epoch(&r->resume, t, p, r->arguments->until > 0 && is_trained(r), e);
}

/* Evaluates a checkpoint whose training is complete, for example to write predictions. */
static enum status run_nothing(struct run *r, struct error *e)
{
    struct score test;
    struct class_counts classes;
    if (r->rank == 0)
        printf("no epochs left to train: %u of %ld are done\n", r->progress.epoch,
               config_int(&r->arguments->config, OPT_EPOCHS));
    return trainer_evaluate(&r->trainer, &r->trainer.data->test, &test, &classes, e);
}

static void print_target(const struct run *r)
{
    const struct config *c = &r->arguments->config;
    double target = config_number(c, OPT_TARGET_ACC);
    bool goes_on = last_epoch(r) < (uint32_t)config_int(c, OPT_EPOCHS) && epochs_to_target(r) == 0;
    if (r->rank != 0 || target == 0 || goes_on)
        return;
    json_int_t epochs = epochs_to_target(r);
    if (epochs > 0)
        printf("test accuracy reached %g %% after %" JSON_INTEGER_FORMAT " epochs\n", target,
               epochs);
    else
        log_print(LOG_WARNING,
                  "test accuracy did not reach train.target_acc_pct = %g in %ld epochs", target,
                  config_int(c, OPT_EPOCHS));
}

static enum status run_for_accuracy(struct run *r, struct error *e)
{
    if (is_trained(r))
        TRY(run_nothing(r, e));
    while (!is_trained(r))
        TRY(run_epoch(r, e));
    print_target(r);
    return OK;
}

static enum status run_to_evaluate(struct run *r, struct error *e)
{
    struct score test;
    TRY(run_evaluation(r, &test, e));
    if (r->rank == 0)
        printf("test loss %.4f  accuracy %.2f %%\n", test.loss_sum / test.samples,
               100.0 * test.correct / test.samples);
    return OK;
}

/* Times full batches only: a smaller last batch would be a different step. */
static enum status run_for_time(struct run *r, struct error *e)
{
    const struct sampler *s = &r->trainer.batches.sampler;
    uint32_t warmup = (uint32_t)config_int(&r->arguments->config, OPT_TIME_WARMUP);
    uint32_t steps = (uint32_t)config_int(&r->arguments->config, OPT_TIME_STEPS);
    uint32_t full = s->n_samples / s->global_batch;
    struct score score = {0};
    if (config_int(&r->arguments->config, OPT_TIMELINE))
        TRY(trace_open(&r->trace, &r->trainer, e));
    for (uint32_t i = 0; i < warmup + steps; i++) {
        if (i % full == 0)
            inject_sleep(&r->trainer.inject, INJECT_PHASE_read, i + 1);
        TRY(feed_epoch(&r->feed, &r->trainer.batches.sampler, i / full, e));
        TRY(run_step(r, i / full, i % full, i >= warmup, true, &score, e));
    }
    TRY(synchronise(r, true, e));
    TRY(trace_write(&r->trace, &r->trainer.job, &r->recorder, e));
    trace_close(&r->trace, &r->trainer);
    if (r->rank == 0) {
        double step_s = 1e-9 * (double)r->end.window_ns / steps;
        printf("%u steps of %u images on %d ranks: %.3f ms per step, %.0f images/s\n", steps,
               s->full_images, r->ranks, 1e3 * step_s, s->full_images / step_s);
    }
    return OK;
}

/* Compares the ranks' hashes of weights, for every step or only for the last one. If the ranks hold
 * no replicas, compares only the model that sync_eval_begin makes at the end. */
static enum status compare(struct run *r, struct error *e)
{
    bool one_model = !has_replicas(r);
    if (one_model)
        TRY(sync_eval_begin(r->trainer.sync, e));
    if (one_model || check_of(r) == CHECK_end || r->hashes.n == 0)
        hashes_add(&r->hashes, &r->trainer);
    if (one_model)
        TRY(sync_eval_end(r->trainer.sync, e));
    return hashes_compare(&r->hashes, &r->trainer.job, &r->end, e);
}

static void warn_of_infinities(const struct run *r)
{
    const struct sync *s = r->trainer.sync;
    double scale = s->config.options[SYNC_fp16_scale];
    if (s->infinite > 0 && s->config.precision != PRECISION_fp16)
        log_print(LOG_WARNING,
                  "rank %d: %llu gradients or sums beyond %g became infinite in fp16 "
                  "(sync.fp16_scale = %g)",
                  s->rank, (unsigned long long)s->infinite, 65504 / scale, scale);
}

/* If train.precision = fp16, rank 0 prints the final loss scale and the number of skipped steps.
 * Skipped steps are normal: a dynamic scale rises until gradients overflow. */
static void print_loss_scale(const struct run *r)
{
    const struct loss_scale *s = &r->trainer.sync->loss_scale;
    if (r->rank == 0 && r->trainer.sync->config.precision == PRECISION_fp16)
        printf("loss scale %.15g at the end; %llu of %llu steps skipped\n", s->value,
               (unsigned long long)s->skipped, (unsigned long long)r->trainer.steps_done);
}

static void warn_of_divergence(const struct run *r)
{
    const struct divergence *d = &r->progress.divergence;
    if (r->rank == 0 && d->step > 0)
        log_print(LOG_WARNING, "training diverged: %s at step %llu", d->text,
                  (unsigned long long)d->step);
}

static void print_comparison(const struct run *r)
{
    if (r->rank != 0 || r->ranks == 1)
        return;
    if (r->end.weights_equal == VERDICT_UNKNOWN)
        puts("weights not compared");
    else if (r->end.weights_equal == VERDICT_TRUE)
        printf("weights equal on all ranks%s\n", has_replicas(r) ? "" : " at the end");
    else
        printf("weights differ first at %s\n", r->end.first_difference);
}

/* Times communication alone. The replay changes optimizer state: do not train afterwards. */
static enum status replay(struct run *r, struct error *e)
{
    int replays = (int)config_int(&r->arguments->config, OPT_REPLAY);
    if (replays == 0)
        return OK;
    r->end.replays = replays;
    return replay_run(&r->trainer, replays, &r->end.replay_ns, e);
}

/* Ends a run after its last step. Writes the steps and, if requested, predictions and calibrated
 * times. Compares the ranks' weights unless measure.check is none or compute is replayed. Timed
 * runs also replay a step's communication as often as measure.replay requires. */
static enum status conclude(struct run *r, struct error *e)
{
    watch_for_divergence(r, "a weight", trainer_wrong_weight(&r->trainer));
    TRY(step_log_write(&r->log, &r->recorder, e));
    if (r->arguments->predictions != NULL)
        TRY(trainer_write_predictions(&r->trainer, r->arguments->predictions, e));
    if (check_of(r) != CHECK_none)
        TRY(compare(r, e));
    if (r->trainer.times != NULL)
        TRY(calibration_write(r->trainer.times, r->arguments->record_dir, r->rank, e));
    return r->arguments->run == RUN_FOR_TIME ? replay(r, e) : OK;
}

static void take_clock(struct record_end *end, int of, const struct clock_line *clock)
{
    end->clock_of = of;
    end->clock_begin_at_ns = clock->begin.at_ns;
    end->clock_begin_offset_ns = clock->begin.offset_ns;
    end->clock_begin_error_ns = clock->begin.error_ns;
    end->clock_end_at_ns = clock->end.at_ns;
    end->clock_end_offset_ns = clock->end.offset_ns;
    end->clock_end_error_ns = clock->end.error_ns;
}

static void take_cores(struct record_end *end, const struct load_share *cores)
{
    end->cores_s = cores->total_s;
    end->cores_busy_s = cores->busy_s;
    end->cores_steal_s = cores->steal_s;
    end->cores_own_s = cores->own_s;
}

static void take_divergence(struct record_end *end, const struct divergence *divergence)
{
    if (divergence->step == 0)
        return;
    end->diverged_step = (double)divergence->step;
    snprintf(end->diverged, sizeof end->diverged, "%s", divergence->text);
}

/* In a timed run without replayed compute, sets this rank's peak FLOP rate: the measured rate of
 * one core times the number of threads. Assumes that all threads run on cores of the same kind. */
static void take_peak(struct record_end *end, const struct run *r)
{
    if (r->arguments->run == RUN_FOR_TIME && r->trainer.replayed == NULL)
        end->peak_gflop_per_s =
            1e-9 * peak_flop_per_s(r->trainer.model.isa) * pool_threads(r->trainer.model.exec.pool);
}

static enum status write_end(struct run *r, struct error *e)
{
    struct record_end *end = &r->end;
    const struct load_share cores = load_since(r->begin);
    end->fetches = r->feed.fetches;
    if (r->feed.fetches > 0)
        end->fetch_s = r->feed.fetch_s / r->feed.fetches;
    end->checkpoints = (int64_t)r->resume.written;
    end->checkpoint_s = 1e-9 * (double)r->resume.write_ns;
    end->data_mib = reader_data_mib(&r->feed.reader);
    take_clock(end, r->clock_of, &r->clock);
    take_cores(end, &cores);
    take_divergence(end, &r->progress.divergence);
    take_peak(end, r);
    TRY(recorder_add(&r->recorder, report_end(end, &r->trainer, &r->traffic), e));
    return recorder_finish(&r->recorder, e);
}

static enum status find_clock(struct run *r, struct clock_offset *offset, struct error *e)
{
    return clocks_find(offset, &r->clock_of, &r->waiter, MPI_COMM_WORLD, clock_ns, e);
}

static enum status run_and_record(struct run *r, struct error *e)
{
    static enum status (*const kinds[])(struct run *, struct error *) = {
        [RUN_FOR_ACCURACY] = run_for_accuracy,
        [RUN_FOR_TIME] = run_for_time,
        [RUN_TO_EVALUATE] = run_to_evaluate,
    };
    TRY(find_clock(r, &r->clock.begin, e));
    TRY(kinds[r->arguments->run](r, e));
    TRY(find_clock(r, &r->clock.end, e));
    /* Measured before steps are converted to JSON, because the conversion needs memory too. */
    r->end.rss_mib = mem_peak_mib();
    TRY(conclude(r, e));
    print_comparison(r);
    print_loss_scale(r);
    warn_of_infinities(r);
    warn_of_divergence(r);
    return write_end(r, e);
}

enum status run_execute(struct run *r, struct error *e)
{
    enum status status = run_and_record(r, e);
    inject_sleep(&r->trainer.inject, INJECT_PHASE_end, r->trainer.steps_done);
    /* Other ranks may still need messages from this rank, so a successful rank waits for all
     * ranks. */
    return status == OK ? wait_barrier(&r->waiter, MPI_COMM_WORLD, "end of the run", e) : status;
}
