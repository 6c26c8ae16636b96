/* train_cnn: trains a network on p MPI processes and records what each step cost. */
#include <limits.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench/place/place.h"
#include "bench/workloads/failure.h"
#include "bench/workloads/record.h"
#include "bench/workloads/train_cnn/arguments.h"
#include "bench/workloads/train_cnn/check.h"
#include "bench/workloads/train_cnn/feed.h"
#include "bench/workloads/train_cnn/nic.h"
#include "bench/workloads/train_cnn/plan_print.h"
#include "bench/workloads/train_cnn/predictions.h"
#include "bench/workloads/train_cnn/replay.h"
#include "bench/workloads/train_cnn/report.h"
#include "bench/workloads/train_cnn/resume.h"
#include "bench/workloads/train_cnn/trainer.h"
#include "comm/alone.h"
#include "kernels/base/clock.h"
#include "kernels/base/keeper.h"
#include "kernels/base/launcher.h"
#include "kernels/base/log.h"
#include "kernels/base/mem.h"
#include "kernels/base/output.h"

/* Steps of an accuracy run that are written out one by one. */
#define RECORDED_STEPS 200

#define THREADS_MAX 1024

/* All that a run holds, in the order it is set up. */
struct run {
    const struct arguments *arguments;
    int rank, ranks;
    struct waiter waiter;
    struct net_desc desc;
    struct feed feed;
    char bound[256];
    struct pool *pool;
    int progress_cpu; /* of the thread of sync.overlap */
    struct trainer trainer;
    struct resume resume;
    struct progress progress;
    struct hashes hashes;
    struct step_log log;
    struct recorder recorder;
    struct window window;
    struct memory_use memory;
    bool all_failed; /* at the same place: every rank can leave in order */
};

static double seconds_since(int64_t begin_ns)
{
    return 1e-9 * (double)(clock_ns() - begin_ns);
}

/* ---- setting up
 * ---------------------------------------------------------------------------------- */

/* Threads sit on the cores that `pin` bound this rank to, one each, that of sync.overlap on the
 * last; without a core for each they are left to the kernel. */
static enum status open_pool(struct run *r, struct error *e)
{
    int threads = (int)config_int(&r->arguments->config, OPT_THREADS);
    int cpus[THREADS_MAX];
    int n = place_parse_cpus(r->bound, cpus, THREADS_MAX);
    int wanted = config_cores_per_rank(&r->arguments->config);
    bool one_each = n == wanted && wanted > 1;
    if (one_each) {
        if (wanted > threads) {
            r->progress_cpu = cpus[n - 1];
            r->trainer.progress_cpu = &r->progress_cpu;
        }
        char own[16];
        snprintf(own, sizeof own, "%d", cpus[0]);
        if (place_bind_self(own, e) != OK)
            return e->status;
    }
    return pool_create(&r->pool, threads, one_each ? cpus : NULL, fp_mode_set, e);
}

static enum status check_nic(const char *name, struct error *e)
{
    if (name == NULL || nic_bytes_sent(name) >= 0)
        return OK;
    return error_set(e, ERR_ARGUMENT, "--nic %s: no such network interface here", name);
}

/* What this run will write: a run of hours shall not end with a folder that is not there. */
static enum status check_outputs(const struct run *r, struct error *e)
{
    const struct arguments *a = r->arguments;
    bool saves = a->run == RUN_FOR_ACCURACY && config_writes_checkpoints(&a->config);
    enum status status = recorder_check(a->record_dir, r->rank, e);
    if (status == OK && r->rank == 0 && a->predictions != NULL)
        status = output_check("--predictions", a->predictions, e);
    if (status == OK && r->rank == 0 && saves)
        status = checkpoint_check(config_text(&a->config, OPT_CHECKPOINT_PATH), e);
    return status;
}

static enum status open_inputs(struct run *r, struct error *e)
{
    const struct config *c = &r->arguments->config;
    enum status status = place_read_back(r->bound, sizeof r->bound, e);
    if (status == OK)
        status = model_load(&r->desc, config_text(c, OPT_MODEL), e);
    if (status == OK)
        status = open_pool(r, e);
    if (status == OK)
        status = check_nic(r->arguments->nic, e);
    if (status == OK)
        status = check_outputs(r, e);
    return status;
}

/* Every rank learns whether some rank failed, and how; the first that did says why, the others have
 * nothing to say. */
static enum status agree(struct run *r, enum status mine, struct error *e)
{
    enum { STATUSES = 64 };
    int worst = mine != OK ? (r->ranks - r->rank) * STATUSES + (int)mine : 0;
    struct error own = *e;
    enum status status = wait_allreduce(&r->waiter, &worst, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD,
                                        "agreement after set-up", e);
    if (status != OK || worst == 0)
        return status;
    r->all_failed = true;
    bool first = r->rank == r->ranks - worst / STATUSES;
    *e = first ? own : (struct error){.status = (enum status)(worst % STATUSES)};
    return e->status;
}

static size_t planned_steps(const struct run *r)
{
    const struct config *c = &r->arguments->config;
    if (r->arguments->run == RUN_TO_EVALUATE)
        return 1; /* what was read */
    if (r->arguments->run == RUN_FOR_TIME)
        return (size_t)(config_int(c, OPT_TIME_WARMUP) + config_int(c, OPT_TIME_STEPS));
    return (size_t)config_int(c, OPT_EPOCHS) * r->trainer.sampler.steps;
}

/* At most, between two moments at which they become lines of the record. */
static size_t recorded_steps(const struct run *r)
{
    return r->arguments->run == RUN_FOR_TIME ? planned_steps(r) : RECORDED_STEPS;
}

static enum status open_record(struct run *r, struct error *e)
{
    const struct arguments *a = r->arguments;
    enum status status = recorder_open(&r->recorder, a->record_dir, r->rank, e);
    if (status == OK)
        status =
            recorder_add(&r->recorder, report_hello(&r->trainer, a, r->feed.read_s, r->bound), e);
    size_t i;
    json_t *line;
    json_array_foreach(r->progress.history, i, line)
    {
        if (status == OK)
            status = recorder_add(&r->recorder, json_incref(line), e);
    }
    return status;
}

/* The state that training begins with: drawn, or read from files. */
static enum status open_training(struct run *r, struct error *e)
{
    bool trains = r->arguments->run == RUN_FOR_ACCURACY;
    enum status status = trainer_connect(&r->trainer, e);
    if (status == OK)
        status = agree(r, resume_open(&r->resume, &r->trainer, trains, e), e);
    if (status == OK)
        status = resume_begin(&r->resume, &r->trainer, &r->progress, e);
    if (status == OK && r->arguments->predictions != NULL)
        status = predictions_open(&r->trainer, e);
    return status;
}

/* For those who look for a rank among the processes of a node. */
static void name_processes(const struct run *r)
{
    const struct waiter *w = &r->waiter;
    char ranks[512] = "", processes[1024] = "", host[HOST_NAME_MAX + 1] = "";
    size_t n_ranks = 0, n_processes = 0;
    if (r->ranks == 1 || w->node_rank != 0)
        return;
    for (int i = 0; i < w->node_ranks && n_ranks < sizeof ranks - 16; i++) {
        n_ranks +=
            (size_t)snprintf(ranks + n_ranks, sizeof ranks - n_ranks, " %d", w->world_ranks[i]);
        n_processes += (size_t)snprintf(processes + n_processes, sizeof processes - n_processes,
                                        " %d", w->processes[i]);
    }
    gethostname(host, sizeof host - 1);
    log_print(LOG_DETAIL, "rank%s on %s: process%s", ranks, host, processes);
}

static enum status open_run(struct run *r, struct error *e)
{
    const struct arguments *a = r->arguments;
    double deadline_s = config_number(&a->config, OPT_DEADLINE);
    MPI_Comm_rank(MPI_COMM_WORLD, &r->rank);
    MPI_Comm_size(MPI_COMM_WORLD, &r->ranks);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    enum status status = waiter_open(&r->waiter, a->wait, deadline_s, MPI_COMM_WORLD, e);
    if (status == OK && config_int(&a->config, OPT_CALL_CHECK) != 0)
        status = waiter_check_calls(&r->waiter, MPI_COMM_WORLD, e);
    if (status != OK)
        return status;
    name_processes(r);
    fp_mode_set();
    gemm_init();
    status = agree(r, open_inputs(r, e), e);
    if (status == OK)
        status = agree(r, feed_open(&r->feed, &a->config, &r->waiter, MPI_COMM_WORLD, e), e);
    if (status == OK) {
        r->trainer.config = &a->config;
        r->trainer.desc = &r->desc;
        r->trainer.data = &r->feed.reader.data;
        r->trainer.waiter = &r->waiter;
        r->trainer.comm = MPI_COMM_WORLD;
        status = agree(r, trainer_open(&r->trainer, r->pool, e), e);
    }
    if (status == OK)
        status = agree(r, hashes_open(&r->hashes, planned_steps(r), e), e);
    if (status == OK)
        status = agree(r, step_log_open(&r->log, recorded_steps(r), e), e);
    if (status == OK)
        status = open_training(r, e);
    if (status == OK)
        status = feed_epoch(&r->feed, &r->trainer.sampler, r->progress.epoch, e);
    return status == OK ? open_record(r, e) : status;
}

static void close_run(struct run *r)
{
    recorder_close(&r->recorder);
    step_log_close(&r->log);
    hashes_close(&r->hashes);
    json_decref(r->progress.history);
    resume_close(&r->resume);
    predictions_close(&r->trainer);
    trainer_close(&r->trainer);
    pool_destroy(r->pool);
    feed_close(&r->feed);
    net_desc_free(&r->desc);
    waiter_close(&r->waiter);
}

/* ---- running
 * ------------------------------------------------------------------------------------- */

enum check { CHECK_STEP, CHECK_END, CHECK_NONE }; /* order of names_checks */

static enum check check_of(const struct run *r)
{
    return (enum check)config_int(&r->arguments->config, OPT_CHECK);
}

/* Whether the weights of ranks are compared, and not the model that is made of them at the end. */
static bool has_replicas(const struct run *r)
{
    return (sync_flags(r->trainer.sync) & STRATEGY_AVERAGED) == 0;
}

static void window_add(struct window *w, const struct step_record *taken)
{
    if (w->timed_steps++ == 0)
        w->begin_ns = taken->begin_ns;
    w->end_ns = taken->end_ns;
    w->window_ns += taken->end_ns - taken->begin_ns;
    w->cpu_ns += taken->cpu_ns;
    w->poll_ns += taken->poll_ns;
}

/* Outside of the timed steps: reading takes some microseconds. */
static void read_nic(const struct run *r, int64_t *bytes)
{
    if (r->arguments->nic != NULL)
        *bytes = nic_bytes_sent(r->arguments->nic);
}

/* One step and what is kept of it, all of which happens between the timed steps. */
static enum status run_step(struct run *r, uint32_t epoch, uint32_t step, bool timed, bool record,
                            struct score *score, struct error *e)
{
    struct step_record taken;
    const struct waiter before = r->waiter;
    if (timed && r->window.timed_steps == 0)
        read_nic(r, &r->window.nic_begin);
    if (trainer_step(&r->trainer, epoch, step, &taken, e) != OK)
        return e->status;
    if (check_of(r) == CHECK_STEP)
        taken.hash =
            has_replicas(r) ? hashes_add(&r->hashes, &r->trainer) : trainer_hash(&r->trainer);
    score->loss_sum += taken.score.loss_sum;
    score->correct += taken.score.correct;
    score->samples += taken.score.samples;
    r->window.steps++;
    if (timed) {
        window_add(&r->window, &taken);
        read_nic(r, &r->window.nic_end);
        r->window.calls += r->waiter.calls - before.calls;
        r->window.bytes_payload += r->waiter.bytes_payload - before.bytes_payload;
        r->window.messages_sent += r->waiter.messages_sent - before.messages_sent;
        r->window.bytes_sent += r->waiter.bytes_sent - before.bytes_sent;
    }
    if (record && r->arguments->record_steps)
        step_log_add(&r->log, &taken, timed);
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

/* The steps of the current epoch that are left, and the checkpoints between them. */
static enum status run_steps(struct run *r, bool last, struct error *e)
{
    struct progress *p = &r->progress;
    inject_sleep(&r->trainer.inject, INJECT_READ, r->trainer.steps_done + 1);
    int64_t feed_ns = clock_ns();
    if (feed_epoch(&r->feed, &r->trainer.sampler, p->epoch, e) != OK)
        return e->status;
    p->seconds += seconds_since(feed_ns);
    while (p->step < r->trainer.sampler.steps) {
        int64_t begin_ns = clock_ns();
        bool record = last && p->step < RECORDED_STEPS;
        if (run_step(r, p->epoch, p->step, true, record, &p->train, e) != OK)
            return e->status;
        p->step++;
        p->seconds += seconds_since(begin_ns);
        if (resume_after_step(&r->resume, &r->trainer, p, e) != OK)
            return e->status;
    }
    return OK;
}

/* A line of the record that a resumed run will repeat. */
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
    if (trainer_evaluate(&r->trainer, &r->trainer.data->test, test, &classes, e) != OK)
        return e->status;
    double seconds = seconds_since(begin_ns);
    return add_kept(r, report_eval(r->progress.epoch, seconds, test, &classes), e);
}

static enum status run_epoch(struct run *r, bool last, struct error *e)
{
    struct trainer *t = &r->trainer;
    struct progress *p = &r->progress;
    struct score test;
    if (run_steps(r, last, e) != OK || step_log_write(&r->log, &r->recorder, e) != OK ||
        trainer_sum_scores(t, &p->train, e) != OK)
        return e->status;
    json_t *line = report_epoch(t, p->epoch, t->sampler.steps, p->seconds, &p->train);
    if (add_kept(r, line, e) != OK || run_evaluation(r, &test, e) != OK)
        return e->status;
    print_epoch(r, p->epoch, p->seconds, &p->train, &test);
    p->epoch++;
    p->step = 0;
    p->train = (struct score){0};
    p->seconds = 0;
    return resume_after_epoch(&r->resume, t, p, e);
}

/* The checkpoint is one of the end: its model may still be asked for. */
static enum status run_nothing(struct run *r, struct error *e)
{
    struct score test;
    struct class_counts classes;
    if (r->rank == 0)
        printf("nothing is left to train: %u of %ld epochs were done\n", r->progress.epoch,
               config_int(&r->arguments->config, OPT_EPOCHS));
    return trainer_evaluate(&r->trainer, &r->trainer.data->test, &test, &classes, e);
}

static enum status run_for_accuracy(struct run *r, struct error *e)
{
    uint32_t epochs = (uint32_t)config_int(&r->arguments->config, OPT_EPOCHS);
    if (r->progress.epoch >= epochs)
        return run_nothing(r, e);
    while (r->progress.epoch < epochs)
        if (run_epoch(r, r->progress.epoch + 1 == epochs, e) != OK)
            return e->status;
    return OK;
}

static enum status run_to_evaluate(struct run *r, struct error *e)
{
    struct score test;
    if (run_evaluation(r, &test, e) != OK)
        return e->status;
    if (r->rank == 0)
        printf("test loss %.4f  accuracy %.2f %%\n", test.loss_sum / test.samples,
               100.0 * test.correct / test.samples);
    return OK;
}

/* Full batches only: a smaller last batch of an epoch would be a different step. */
static enum status run_for_time(struct run *r, struct error *e)
{
    const struct sampler *s = &r->trainer.sampler;
    uint32_t warmup = (uint32_t)config_int(&r->arguments->config, OPT_TIME_WARMUP);
    uint32_t steps = (uint32_t)config_int(&r->arguments->config, OPT_TIME_STEPS);
    uint32_t full = s->n_samples / s->global_batch;
    struct score score = {0};
    for (uint32_t i = 0; i < warmup + steps; i++) {
        if (i % full == 0)
            inject_sleep(&r->trainer.inject, INJECT_READ, i + 1);
        if (feed_epoch(&r->feed, &r->trainer.sampler, i / full, e) != OK ||
            run_step(r, i / full, i % full, i >= warmup, true, &score, e) != OK)
            return e->status;
    }
    if (step_log_write(&r->log, &r->recorder, e) != OK)
        return e->status;
    if (r->rank == 0) {
        double step_s = 1e-9 * (double)r->window.window_ns / steps;
        printf("%u steps of %u images on %d ranks: %.3f ms a step, %.0f images/s\n", steps,
               s->global_batch, r->ranks, 1e3 * step_s, s->global_batch / step_s);
    }
    return OK;
}

/* What was kept after each step or, of one model, what there is at the end. */
static enum status compare(struct run *r, struct comparison *c, struct error *e)
{
    enum status status = OK;
    if (!has_replicas(r))
        status = hashes_add_model(&r->hashes, &r->trainer, e);
    else if (check_of(r) == CHECK_END || r->hashes.n == 0)
        hashes_add(&r->hashes, &r->trainer);
    return status == OK ? hashes_compare(&r->hashes, &r->trainer, c, e) : status;
}

static void warn_of_infinities(const struct run *r)
{
    const struct sync *s = r->trainer.sync;
    if (s->infinite > 0)
        log_print(LOG_WARNING,
                  "rank %d: %llu gradients or sums beyond %g became infinite in fp16 "
                  "(sync.fp16_scale = %g)",
                  s->rank, (unsigned long long)s->infinite, 65504 / s->form.fp16_scale,
                  s->form.fp16_scale);
}

static void print_comparison(const struct run *r, const struct comparison *c)
{
    if (r->rank != 0 || r->ranks == 1)
        return;
    if (!c->made)
        puts("weights not compared");
    else if (c->equal)
        puts("weights equal on all ranks");
    else
        printf("weights differ first at %s\n", c->first_difference);
}

/* Last of all: what the optimizer keeps is worth nothing afterwards. */
static enum status replay(struct run *r, struct error *e)
{
    r->window.replays = (int)config_int(&r->arguments->config, OPT_REPLAY);
    if (r->window.replays == 0)
        return OK;
    return replay_run(&r->trainer, r->window.replays, &r->window.replay_ns, e);
}

static enum status run(struct run *r, struct error *e)
{
    static enum status (*const kinds[])(struct run *, struct error *) = {
        [RUN_FOR_ACCURACY] = run_for_accuracy,
        [RUN_FOR_TIME] = run_for_time,
        [RUN_TO_EVALUATE] = run_to_evaluate,
    };
    struct comparison comparison = {0};
    enum status status = kinds[r->arguments->run](r, e);
    if (status == OK && r->arguments->predictions != NULL)
        status = predictions_write(&r->trainer, r->arguments->predictions, e);
    if (status == OK && check_of(r) != CHECK_NONE)
        status = compare(r, &comparison, e);
    if (status == OK && r->arguments->run == RUN_FOR_TIME)
        status = replay(r, e);
    if (status == OK) {
        print_comparison(r, &comparison);
        warn_of_infinities(r);
        r->window.counts_nic = r->window.timed_steps > 0 && r->arguments->nic != NULL;
        r->window.fetches = r->feed.fetches;
        r->window.fetch_s = r->feed.fetch_s;
        r->window.checkpoints = r->resume.written;
        r->window.checkpoint_ns = r->resume.write_ns;
        r->memory.data_mib = reader_data_mib(&r->feed.reader);
        status = recorder_add(&r->recorder,
                              report_end(&r->trainer, &r->window, &r->memory, &comparison), e);
    }
    if (status == OK)
        status = recorder_write(&r->recorder, e);
    inject_sleep(&r->trainer.inject, INJECT_END, r->trainer.steps_done);
    /* Nobody leaves while others may still wait for a message. */
    if (status == OK && !r->arguments->finalize)
        status = wait_barrier(&r->waiter, MPI_COMM_WORLD, "end of the run", e);
    return status;
}

/* This process's keeper, or -1. */
static int keeper = -1;

static void say_goodbye(void)
{
    if (keeper >= 0)
        keeper_goodbye(keeper);
    keeper = -1;
}

/* A rank that is killed cannot say so, and its launcher, which kills the others then, may take any
 * of them for the one that began. Ends that no handler of exit sees say goodbye themselves. */
static enum status start_keeper(struct error *e)
{
    char words[512], host[HOST_NAME_MAX + 1] = "";
    int rank = launcher_rank();
    if (rank < 0)
        return OK; /* alone: whoever started it sees how it ends */
    gethostname(host, sizeof host - 1);
    snprintf(words, sizeof words, "train_cnn: rank %d (process %d on %s) was killed or has crashed",
             rank, (int)getpid(), host);
    enum status status = keeper_start(&keeper, words, e);
    if (status == OK && (atexit(say_goodbye) != 0 || at_quick_exit(say_goodbye) != 0))
        status = error_set(e, ERR_SYSTEM, "no room for a handler of exit");
    return status;
}

/* A rank that fails alone takes the others with it. */
static int train(const struct arguments *arguments)
{
    struct error e = {0};
    struct run r = {.arguments = arguments, .memory.libraries_mib = mem_now_mib()};
    enum status status = open_run(&r, &e);
    if (status == OK)
        status = run(&r, &e);
    int exit_status = status == OK ? 0 : failure_report("train_cnn", &e, true);
    if (status != OK && !r.all_failed) {
        say_goodbye();
        failure_abort_all(exit_status);
    }
    close_run(&r);
    return exit_status;
}

/* In MPI_Finalize ranks of MPICH before 4.2 on UCX meet in a barrier that makes no progress, while
 * others still wait for them to answer the end of a connection: over TCP some runs never end. */
static void leave(int exit_status)
{
    fflush(NULL);
    if (exit_status == 0)
        launcher_say_finalized();
    say_goodbye();
    _exit(exit_status);
}

int main(int argc, char **argv)
{
    struct arguments arguments;
    struct error e = {0};
    if (arguments_parse(&arguments, argc, argv, &e) != OK) {
        config_free(&arguments.config);
        return failure_report("train_cnn", &e, failure_is_first_process());
    }
    int exit_status = 0;
    if (arguments.help) {
        arguments_help(stdout, "train_cnn");
    } else if (arguments.describe) {
        exit_status = arguments_describe(stdout, "train_cnn", &e) == OK
                          ? 0
                          : failure_report("train_cnn", &e, true);
    } else if (arguments.describe_plan) {
        exit_status = plan_print(stdout, &arguments.config, &e) == OK
                          ? 0
                          : failure_report("train_cnn", &e, true);
    } else {
        int level;
        bool threads = config_overlap(&arguments.config) == OVERLAP_thread;
        int wanted = threads ? MPI_THREAD_SERIALIZED : MPI_THREAD_FUNNELED;
        double deadline_s = config_number(&arguments.config, OPT_DEADLINE);
        struct alone alone;
        if (start_keeper(&e) != OK || alone_begin(&alone, "start of MPI", deadline_s, &e) != OK)
            return failure_report("train_cnn", &e, true);
        MPI_Init_thread(&argc, &argv, wanted, &level);
        alone_end(&alone);
        exit_status = train(&arguments);
        if (!arguments.finalize)
            leave(exit_status);
        alone_begin(&alone, "end of MPI", deadline_s, &e);
        MPI_Finalize();
        alone_end(&alone);
    }
    config_free(&arguments.config);
    return exit_status;
}
