#include "bench/workloads/train_cnn/report.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "comm/algorithm.h"
#include "comm/cost/cost.h"
#include "kernels/base/clock.h"
#include "kernels/base/mem.h"

/* "MPICH Version: 4.0.2\n..." as "MPICH 4.0.2". */
static void mpi_name(char *text, size_t size)
{
    char version[MPI_MAX_LIBRARY_VERSION_STRING];
    int length;
    MPI_Get_library_version(version, &length);
    char name[32] = "", number[32] = "";
    if (sscanf(version, "%31s Version: %31s", name, number) == 2) {
        snprintf(text, size, "%s %s", name, number);
        return;
    }
    snprintf(text, size, "%.*s", (int)strcspn(version, "\n,"), version);
}

static const char *thread_level(void)
{
    int level;
    MPI_Query_thread(&level);
    return level == MPI_THREAD_SINGLE       ? "single"
           : level == MPI_THREAD_FUNNELED   ? "funneled"
           : level == MPI_THREAD_SERIALIZED ? "serialized"
                                            : "multiple";
}

/* What is about the machine and the libraries. */
static json_t *hello_platform(const struct trainer *t, const char *bound)
{
    char host[256] = "";
    gethostname(host, sizeof host - 1);
    int64_t resolution_ns, overhead_ns;
    clock_calibrate(&resolution_ns, &overhead_ns);
    return json_pack("{s:s, s:i, s:s, s:s, s:b, s:i, s:I, s:I}", "host", host, "pid", (int)getpid(),
                     "bound", bound, "mpi_thread_level", thread_level(), "flushes_denormals",
                     fp_mode_flushes(), "threads", pool_threads(t->exec.pool),
                     "timer_resolution_ns", (json_int_t)resolution_ns, "timer_overhead_ns",
                     (json_int_t)overhead_ns);
}

/* What is really computed of the FLOPs that the net has as written. */
static json_t *hello_work(const struct trainer *t)
{
    const struct net *net = t->net;
    char savings[SAVINGS_TEXT], kernels[KERNELS_TEXT] = "fixed";
    if (trainer_tunes(t->config))
        net_kernels_text(net, t->desc, kernels);
    return json_pack("{s:I, s:I, s:s, s:s}", "flops_done_forward",
                     (json_int_t)net_flops_done(net, false), "flops_done_backward",
                     (json_int_t)net_flops_done(net, true), "savings",
                     savings_text(savings, net_savings(net)), "kernels_tuned", kernels);
}

static json_t *hello_training(const struct trainer *t, const struct config *c)
{
    return json_pack(
        "{s:s, s:f, s:I, s:s, s:s, s:s, s:s, s:s, s:i, s:i, s:I}", "optimizer",
        config_text(c, OPT_OPTIMIZER), "lr", config_number(c, OPT_LR), "seed",
        (json_int_t)t->exec.seed, "strategy", config_text(c, OPT_STRATEGY), "sync_variant",
        strategy_variant_name(t->sync->config.variant), "sync_algorithm", algorithm_in_use(),
        "compress", compressor_names()[t->sync->config.compressor], "overlap",
        overlap_names()[config_overlap(c)], "batch", (int)t->sampler.n_max, "global_batch",
        (int)t->global_batch, "resumed_steps", (json_int_t)t->steps_done);
}

static json_t *hello_data(const struct trainer *t, const struct config *c, double read_s)
{
    return json_pack("{s:s, s:i, s:i, s:s, s:s, s:f}", "data_path", t->data->path, "train_images",
                     (int)t->sampler.n_samples, "test_images", (int)t->data->test.n, "data_read",
                     config_text(c, OPT_DATA_READ), "data_shard", config_text(c, OPT_DATA_SHARD),
                     "read_s", read_s);
}

json_t *report_identity(const struct data_set *data, enum isa isa, const struct arguments *a,
                        struct error *e)
{
    char mpi[64], hash[DATA_HASH_BYTES];
    if (data_hash(data, hash, e) != OK)
        return NULL;
    mpi_name(mpi, sizeof mpi);
    return json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:s}", "precision", REAL_NAME, "isa",
                     isa_names()[isa], "libraries", a->libraries, "mpi", mpi, "blas",
                     gemm_library(), "dataset", data->name, "data_source", data->source,
                     "data_hash", hash);
}

json_t *report_hello(const struct trainer *t, const struct arguments *a, double read_s,
                     const char *bound, struct error *e)
{
    json_t *identity = report_identity(t->data, t->isa, a, e);
    if (identity == NULL)
        return NULL;
    json_t *line = json_pack("{s:s, s:i, s:i, s:i, s:s, s:s, s:s, s:I, s:I, s:I}", "type", "hello",
                             "schema", RECORD_SCHEMA, "rank", t->rank, "ranks", t->ranks,
                             "workload", "train_cnn", "version", a->version, "model", t->desc->name,
                             "params", (json_int_t)t->desc->n_params, "flops_forward",
                             (json_int_t)t->desc->flops_forward, "flops_backward",
                             (json_int_t)t->desc->flops_backward);
    json_object_update_new(line, identity);
    json_object_update_new(line, hello_work(t));
    json_object_update_new(line, hello_data(t, &a->config, read_s));
    json_object_update_new(line, hello_training(t, &a->config));
    json_object_update_new(line, hello_platform(t, bound));
    return line;
}

static json_t *report_step(const struct step_record *r, bool timed)
{
    char hash[24];
    snprintf(hash, sizeof hash, "%016" PRIx64, r->hash);
    json_t *line = json_pack("{s:s, s:i, s:i, s:b, s:i, s:o, s:i, s:s}", "type", "step", "epoch",
                             (int)r->epoch, "step", (int)r->step, "timed", timed, "samples",
                             (int)r->score.samples, "loss_sum", record_real(r->score.loss_sum),
                             "correct", (int)r->score.correct, "hash", hash);
    const struct {
        const char *name;
        int64_t ns;
    } times[] = {
        {"begin_ns", r->begin_ns},
        {"end_ns", r->end_ns},
        {"load_ns", r->load_ns},
        {"forward_ns", r->forward_ns},
        {"backward_ns", r->backward_ns},
        {"pack_ns", r->sync.pack_ns},
        {"comm_total_ns", r->sync.comm_total_ns},
        {"comm_exposed_ns", r->sync.comm_exposed_ns},
        {"optimizer_ns", r->sync.optimizer_ns},
        {"arrive_ns", r->sync.arrive_ns},
        {"poll_ns", r->poll_ns},
        {"progress_ns", r->sync.poll_ns},
        {"inject_ns", r->inject_ns},
    };
    for (size_t i = 0; i < sizeof times / sizeof *times; i++)
        json_object_set_new(line, times[i].name, json_integer(times[i].ns));
    return line;
}

struct kept_step {
    struct step_record record;
    bool timed;
};

enum status step_log_open(struct step_log *log, size_t capacity, struct error *e)
{
    *log = (struct step_log){.capacity = capacity};
    log->steps = mem_alloc(capacity * sizeof *log->steps);
    return log->steps != NULL ? OK : error_set(e, ERR_MEMORY, "no memory for %zu steps", capacity);
}

void step_log_close(struct step_log *log)
{
    mem_free(log->steps);
    *log = (struct step_log){0};
}

void step_log_add(struct step_log *log, const struct step_record *step, bool timed)
{
    assert(log->n < log->capacity);
    log->steps[log->n++] = (struct kept_step){.record = *step, .timed = timed};
}

enum status step_log_write(struct step_log *log, struct recorder *recorder, struct error *e)
{
    for (size_t i = 0; i < log->n; i++) {
        json_t *line = report_step(&log->steps[i].record, log->steps[i].timed);
        TRY(recorder_add(recorder, line, e));
    }
    log->n = 0;
    return OK;
}

json_t *report_epoch(const struct trainer *t, uint32_t epoch, uint32_t steps, double seconds,
                     const struct score *score)
{
    return json_pack("{s:s, s:i, s:f, s:i, s:i, s:o, s:f, s:f}", "type", "epoch", "epoch",
                     (int)epoch, "seconds", seconds, "steps", (int)steps, "samples",
                     (int)score->samples, "train_loss",
                     record_real(score->loss_sum / score->samples), "train_acc_pct",
                     100.0 * score->correct / score->samples, "lr", trainer_lr(t));
}

static json_t *counts_of(const uint32_t *counts, int n)
{
    json_t *array = json_array();
    for (int i = 0; i < n; i++)
        json_array_append_new(array, json_integer(counts[i]));
    return array;
}

json_t *report_eval(uint32_t epoch, double seconds, const struct score *score,
                    const struct class_counts *classes)
{
    return json_pack("{s:s, s:i, s:f, s:i, s:o, s:f, s:o, s:o}", "type", "eval", "epoch",
                     (int)epoch, "seconds", seconds, "samples", (int)score->samples, "test_loss",
                     record_real(score->loss_sum / score->samples), "test_acc_pct",
                     100.0 * score->correct / score->samples, "class_samples",
                     counts_of(classes->samples, classes->n), "class_correct",
                     counts_of(classes->correct, classes->n));
}

static double seconds_of(struct timeval t)
{
    return (double)t.tv_sec + 1e-6 * (double)t.tv_usec;
}

static json_t *known_or_null(double x)
{
    return isfinite(x) ? json_real(x) : json_null();
}

json_t *report_end(const struct trainer *t, const struct window *w, const struct memory_use *memory,
                   const struct comparison *comparison, const struct divergence *divergence)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    struct cost cost = sync_cost(t->sync);
    bool counted = strcmp(cost.wire_source, WIRE_COUNTED) == 0;
    json_t *line = json_pack(
        "{s:s, s:s, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:s}", "type", "end",
        "status", "ok", "steps", (json_int_t)w->steps, "timed_steps", (json_int_t)w->timed_steps,
        "window_ns", (json_int_t)w->window_ns, "loop_ns", (json_int_t)(w->end_ns - w->begin_ns),
        "window_cpu_ns", (json_int_t)w->cpu_ns, "poll_ns", (json_int_t)w->poll_ns, "calls",
        (json_int_t)w->calls, "bytes_payload", (json_int_t)w->bytes_payload, "bytes_wire",
        (json_int_t)(counted ? w->bytes_sent : cost.bytes_wire * w->timed_steps / cost.steps),
        "messages_wire",
        (json_int_t)(counted ? w->messages_sent : cost.messages_wire * w->timed_steps / cost.steps),
        "wire_source", cost.wire_source);
    json_object_set_new(line, "bytes_nic",
                        w->counts_nic ? json_integer(w->nic_end - w->nic_begin) : json_null());
    json_object_set_new(line, "fetches", json_integer(w->fetches));
    json_object_set_new(line, "fetch_s",
                        w->fetches > 0 ? json_real(w->fetch_s / w->fetches) : json_null());
    if (t->sync->config.compressor == COMPRESSOR_fp16)
        json_object_set_new(line, "infinite", json_integer((json_int_t)t->sync->infinite));
    json_object_update_new(line, json_pack("{s:I, s:f}", "checkpoints", (json_int_t)w->checkpoints,
                                           "checkpoint_s", 1e-9 * (double)w->checkpoint_ns));
    json_object_update_new(
        line, json_pack("{s:f, s:f, s:f, s:s, s:o, s:s}", "user_s", seconds_of(usage.ru_utime),
                        "sys_s", seconds_of(usage.ru_stime), "rss_mib", memory->peak_mib, "check",
                        config_text(t->config, OPT_CHECK), "weights_equal",
                        comparison->made ? json_boolean(comparison->equal) : json_null(),
                        "first_difference", comparison->first_difference));
    if (divergence->step > 0)
        json_object_update_new(line, json_pack("{s:I, s:s}", "diverged_step",
                                               (json_int_t)divergence->step, "diverged",
                                               divergence->text));
    json_object_set_new(line, "replays", json_integer(w->replays));
    json_object_set_new(line, "replay_ns",
                        w->replays > 0 ? json_integer(w->replay_ns) : json_null());
    json_object_set_new(line, "data_mib", known_or_null(memory->data_mib));
    json_object_set_new(line, "libraries_mib", known_or_null(memory->libraries_mib));
    json_object_update_new(line, json_pack("{s:I, s:I, s:I}", "batch_norm_calls",
                                           (json_int_t)t->group.waiter.calls, "batch_norm_bytes",
                                           (json_int_t)t->group.waiter.bytes_payload,
                                           "batch_norm_ns", (json_int_t)t->group.sum_ns));
    return line;
}
