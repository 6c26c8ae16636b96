/* Opens and closes the parts of a run: thread pool, data, trainer, initial weights, record. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <unistd.h>

#include "bench/base/log.h"
#include "bench/base/output.h"
#include "bench/place/cpu_list.h"
#include "bench/place/place.h"
#include "bench/workloads/train_cnn/run.h"
#include "kernels/base/launcher.h"
#include "kernels/base/mem.h"

#define THREADS_MAX 1024

/* Warns if the rank may use fewer cores than it has threads. */
static void warn_few_cores(const struct run *r, int threads, int cores)
{
    if (threads > cores && cores > 0)
        log_print(LOG_WARNING,
                  "place.threads_per_rank: %d threads of rank %d share %d core%s (processors %s), "
                  "so steps take longer. Expected at most %d thread%s on these cores",
                  threads, r->rank, cores, cores == 1 ? "" : "s", r->bound, cores,
                  cores == 1 ? "" : "s");
}

/* Starts the thread pool. If the rank has several threads and exactly one core per thread, gives
 * each thread its own core. The thread of sync.overlap counts as one of the threads and gets the
 * last core. */
static enum status open_pool(struct run *r, struct error *e)
{
    int threads = (int)config_int(&r->arguments->config, OPT_THREADS);
    int cpus[THREADS_MAX];
    int n = cpu_list_parse(r->bound, cpus, THREADS_MAX);
    int wanted = config_cores_per_rank(&r->arguments->config);
    warn_few_cores(r, threads, n);
    bool one_each = n == wanted && wanted > 1;
    if (one_each) {
        if (wanted > threads) {
            r->progress_cpu = cpus[n - 1];
            r->trainer.progress_cpu = &r->progress_cpu;
        }
        char own[16];
        snprintf(own, sizeof own, "%d", cpus[0]);
        TRY(place_bind_self(own, e));
    }
    return pool_create(&r->pool, threads, one_each ? cpus : NULL, fp_mode_set, e);
}

static enum status check_nic(const char *name, struct error *e)
{
    double counts[NIC_COUNTERS];
    if (name == NULL || nic_read(counts, name))
        return OK;
    return error_set(e, ERR_ARGUMENT, "--nic %s: network interface not found on this node", name);
}

/* Checks all output paths before training, so that a long run does not fail at its end because a
 * folder is missing. */
static enum status check_outputs(const struct run *r, struct error *e)
{
    const struct arguments *a = r->arguments;
    bool saves =
        a->run == RUN_FOR_ACCURACY && (a->until > 0 || config_writes_checkpoints(&a->config));
    TRY(recorder_check(a->record_dir, r->rank, e));
    if (r->rank == 0 && a->predictions != NULL)
        TRY(output_check("--predictions", a->predictions, e));
    if (r->rank == 0 && saves)
        TRY(checkpoint_check(&a->config, e));
    return OK;
}

static enum status open_inputs(struct run *r, struct error *e)
{
    TRY(place_read_back(r->bound, sizeof r->bound, e));
    TRY(model_load(&r->desc, config_text(&r->arguments->config, OPT_MODEL), e));
    TRY(open_pool(r, e));
    TRY(check_nic(r->arguments->nic, e));
    return check_outputs(r, e);
}

/* Informs every rank whether any rank failed; returns OK if none did. The lowest failed rank keeps
 * its error. Other ranks return the same status with an empty text. Collective. */
static enum status agree(struct run *r, enum status mine, struct error *e)
{
    enum { STATUSES = 64 };
    int worst = mine != OK ? (r->ranks - r->rank) * STATUSES + (int)mine : 0;
    struct error own = *e;
    TRY(wait_allreduce(&r->waiter, &worst, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD,
                       "agreement after set-up", e));
    if (worst == 0)
        return OK;
    r->all_failed = true;
    wait_barrier(&r->waiter, MPI_COMM_WORLD, "end of the run", NULL);
    bool first = r->rank == r->ranks - worst / STATUSES;
    *e = first ? own : (struct error){.status = (enum status)(worst % STATUSES)};
    return e->status;
}

static size_t timed_steps(const struct run *r)
{
    const struct config *c = &r->arguments->config;
    return (size_t)(config_int(c, OPT_TIME_WARMUP) + config_int(c, OPT_TIME_STEPS));
}

/* Returns the maximum number of steps kept in memory before they are written to the record. */
static size_t recorded_steps(const struct run *r)
{
    if (r->arguments->run != RUN_FOR_TIME)
        return RUN_RECORDED_STEPS;
    return timed_steps(r) < RUN_KEPT_STEPS ? timed_steps(r) : RUN_KEPT_STEPS;
}

/* Allocates the step log and space for hashes of the weights. Untimed runs get space for one hash
 * here and add space in each epoch, since space for all epochs at once may not fit in memory. */
static enum status open_kept(struct run *r, struct error *e)
{
    size_t hashes = r->arguments->run == RUN_FOR_TIME ? timed_steps(r) : 1;
    r->log.capacity = recorded_steps(r);
    TRY(MEM_NEW_ALIGNED(r->log.steps, r->log.capacity, "the steps of the record", e));
    return hashes_reserve(&r->hashes, hashes, e);
}

static enum status open_record(struct run *r, struct error *e)
{
    const struct arguments *a = r->arguments;
    size_t i;
    json_t *line;
    TRY(recorder_open(&r->recorder, a->record_dir, r->rank, e));
    json_t *hello = report_hello(&r->trainer, a, r->feed.read_s, r->bound, e);
    if (hello == NULL)
        return e->status;
    TRY(recorder_add(&r->recorder, hello, e));
    json_array_foreach(r->progress.history, i, line)
    {
        TRY(recorder_add(&r->recorder, json_incref(line), e));
    }
    return OK;
}

/* Finds the node's energy counters, on the node's first rank. Sets measures_energy on all ranks if
 * any rank measures energy, because all ranks then synchronise. */
static enum status open_energy(struct run *r, struct error *e)
{
    int measures = 0;
    if (r->arguments->run != RUN_FOR_TIME || r->trainer.replayed != NULL)
        return OK;
    if (r->waiter.node_rank == 0)
        measures = energy_open(&r->energy, ENERGY_FOLDER);
    TRY(wait_allreduce(&r->waiter, &measures, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD,
                       "agreement on energy", e));
    r->measures_energy = measures;
    return OK;
}

/* Opens the progress file of an elastic run, on rank 0. */
static enum status open_progress(struct run *r, struct error *e)
{
    if (r->rank != 0 || r->arguments->until == 0 || r->arguments->record_dir == NULL)
        return OK;
    return progress_file_open(&r->progress_file, r->arguments->record_dir, r->trainer.steps_done,
                              r->progress.epoch, e);
}

/* Sets the initial state: random weights or a checkpoint. Also fetches the samples of the epoch in
 * which the run begins. */
static enum status open_training(struct run *r, struct error *e)
{
    bool trains = r->arguments->run == RUN_FOR_ACCURACY;
    TRY(trainer_connect(&r->trainer, e));
    TRY(agree(r, resume_open(&r->resume, &r->trainer, trains, e), e));
    TRY(resume_begin(&r->resume, &r->trainer, &r->progress, e));
    if (r->arguments->predictions != NULL)
        TRY(trainer_keep_predictions(&r->trainer, e));
    return feed_epoch(&r->feed, &r->trainer.batches.sampler, r->progress.epoch, e);
}

/* Prints the process ids of a node's ranks. Only the first rank of each node prints. Does nothing
 * in a run of one rank. */
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
    log_print(LOG_DETAIL, "ranks%s on %s: process ids%s", ranks, host, processes);
}

static enum status open_waiter(struct run *r, struct error *e)
{
    const struct config *c = &r->arguments->config;
    TRY(waiter_open(&r->waiter, r->arguments->wait, config_number(c, OPT_DEADLINE), MPI_COMM_WORLD,
                    e));
    return config_int(c, OPT_CALL_CHECK) != 0 ? waiter_check_calls(&r->waiter, e) : OK;
}

/* Returns whether the run estimates the noise scale. measure.noise_scale is ignored at points that
 * cannot estimate the noise scale, such as points of one rank. */
static bool measures_noise(const struct run *r)
{
    const struct config *c = &r->arguments->config;
    const struct spec_option *lacks = config_unread_by(c, OPT_NOISE_SCALE);
    bool suits = lacks == NULL || !scope_is_workload(lacks->scope);
    return suits && r->ranks > 1 && r->arguments->run == RUN_FOR_ACCURACY &&
           config_int(c, OPT_NOISE_SCALE) != 0;
}

static enum status open_trainer(struct run *r, struct error *e)
{
    r->trainer.config = &r->arguments->config;
    r->trainer.model.desc = &r->desc;
    r->trainer.data = &r->feed.reader.data;
    r->trainer.job.waiter = &r->waiter;
    r->trainer.job.comm = MPI_COMM_WORLD;
    r->trainer.work = r->arguments->work;
    r->trainer.rescales = r->arguments->until > 0;
    r->trainer.noise = measures_noise(r) ? &r->noise : NULL;
    return trainer_open(&r->trainer, r->pool, e);
}

enum status run_open(struct run *r, struct error *e)
{
    const struct config *c = &r->arguments->config;
    MPI_Comm_rank(MPI_COMM_WORLD, &r->rank);
    MPI_Comm_size(MPI_COMM_WORLD, &r->ranks);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    r->all_failed = launcher_check(r->ranks, program_invocation_name, e) != OK;
    if (r->all_failed)
        return e->status;
    TRY(open_waiter(r, e));
    name_processes(r);
    fp_mode_set();
    gemm_init();
    TRY(agree(r, open_inputs(r, e), e));
    TRY(agree(r, feed_open(&r->feed, c, &r->waiter, MPI_COMM_WORLD, e), e));
    TRY(agree(r, open_trainer(r, e), e));
    TRY(agree(r, open_kept(r, e), e));
    TRY(open_training(r, e));
    TRY(open_record(r, e));
    TRY(open_energy(r, e));
    return open_progress(r, e);
}

void run_close(struct run *r)
{
    progress_file_close(&r->progress_file);
    recorder_finish(&r->recorder, NULL);
    mem_free(r->log.steps);
    hashes_close(&r->hashes);
    trace_close(&r->trace, &r->trainer);
    json_decref(r->progress.history);
    resume_close(&r->resume);
    trainer_close(&r->trainer);
    pool_destroy(r->pool);
    feed_close(&r->feed);
    net_desc_free(&r->desc);
    waiter_close(&r->waiter);
}
