#include "bench/workloads/train_cnn/report.h"

#include <math.h>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

#include "bench/place/hardware.h"
#include "comm/algorithm.h"
#include "comm/cost/cost.h"
#include "comm/library.h"
#include "kernels/base/clock.h"

static const char *thread_level(void)
{
    int level;
    MPI_Query_thread(&level);
    return level == MPI_THREAD_SINGLE       ? "single"
           : level == MPI_THREAD_FUNNELED   ? "funneled"
           : level == MPI_THREAD_SERIALIZED ? "serialized"
                                            : "multiple";
}

/* Copies text to a member of struct record_hello or record_end; truncates it to the member's
 * size. */
#define COPY_TEXT(to, from) snprintf(to, sizeof(to), "%s", from)

/* Fills in properties of the machine, the process and MPI. */
static void take_platform(struct record_hello *h, const struct trainer *t, const char *bound)
{
    gethostname(h->host, sizeof h->host - 1);
    hardware_machine(h->machine, sizeof h->machine);
    hardware_cpu(h->cpu, sizeof h->cpu);
    clock_calibrate(&h->timer_resolution_ns, &h->timer_overhead_ns);
    h->pid = getpid();
    h->threads = pool_threads(t->model.exec.pool);
    h->flushes_denormals = fp_mode_flushes() ? VERDICT_TRUE : VERDICT_FALSE;
    COPY_TEXT(h->bound, bound);
    COPY_TEXT(h->mpi_thread_level, thread_level());
}

/* Fills in the network: its name, number of parameters and FLOPs per image. Also fills in the
 * kernel that tuning chose for each convolution and dense layer ("fixed" without tuning). FLOPs are
 * given both for the network as written and for the compiled plan. Savings are the shortcuts by
 * which the plan computes less than the network as written. */
static void take_work(struct record_hello *h, const struct trainer *t)
{
    const struct net *net = t->model.net;
    char kernels[KERNELS_TEXT] = "fixed", savings[SAVINGS_TEXT];
    if (trainer_tunes(t->config))
        net_kernels_text(net, t->model.desc, kernels);
    COPY_TEXT(h->model, t->model.desc->name);
    h->params = (int64_t)t->model.desc->n_params;
    h->flops_forward = (int64_t)t->model.desc->flops_forward;
    h->flops_backward = (int64_t)t->model.desc->flops_backward;
    h->flops_done_forward = (double)net_flops_done(net, false);
    h->flops_done_backward = (double)net_flops_done(net, true);
    COPY_TEXT(h->savings, savings_text(savings, net_savings(net)));
    COPY_TEXT(h->kernels_tuned, kernels);
}

/* Sets h->stage_layers to the layers of this rank's pipeline stage, such as "conv1 relu1
 * maxpool2d1". Leaves it empty without a pipeline. */
static void take_stage(struct record_hello *h, const struct trainer *t)
{
    char layers[NET_OP_LAYERS];
    size_t used = 0, room = sizeof h->stage_layers;
    for (int op = t->model.stage.first;
         op < t->model.stage.last && t->job.grid.stages > 1 && used < room; op++)
        used += (size_t)snprintf(h->stage_layers + used, room - used, "%s%s", used > 0 ? " " : "",
                                 net_op_layers(t->model.net, t->model.desc, op, layers));
}

static void take_training(struct record_hello *h, const struct trainer *t, const struct config *c)
{
    double target = config_number(c, OPT_TARGET_ACC);
    h->lr = config_number(c, OPT_LR);
    h->target_acc_pct = target > 0 ? target : NAN;
    COPY_TEXT(h->train_precision, config_text(c, OPT_PRECISION));
    h->seed = (int64_t)t->model.exec.seed;
    h->batch = t->batches.micro_max;
    h->global_batch = t->batches.sampler.full_images;
    h->resumed_steps = (int64_t)t->steps_done;
    COPY_TEXT(h->optimizer, config_text(c, OPT_OPTIMIZER));
    COPY_TEXT(h->strategy, config_text(c, OPT_STRATEGY));
    COPY_TEXT(h->sync_variant, strategy_variant_name(t->sync->config.variant));
    COPY_TEXT(h->sync_algorithm, algorithm_in_use());
    COPY_TEXT(h->compress, compressor_names()[t->sync->config.compressor]);
    COPY_TEXT(h->compute, t->replayed != NULL ? "replayed" : "real");
    h->sleep_margin_ns = t->replayed != NULL ? (double)t->replayed->pace.margin_ns : NAN;
    if (t->replayed != NULL)
        COPY_TEXT(h->calibration, t->replayed->from);
    COPY_TEXT(h->overlap, overlap_names()[config_overlap(c)]);
    take_stage(h, t);
}

static void take_data(struct record_hello *h, const struct trainer *t, const struct config *c)
{
    h->train_images = t->batches.sampler.epoch_images;
    h->test_images = t->data->test.n;
    COPY_TEXT(h->data_path, t->data->path);
    COPY_TEXT(h->data_read, config_text(c, OPT_DATA_READ));
    COPY_TEXT(h->data_shard, config_text(c, OPT_DATA_SHARD));
}

static enum status take_identity(struct record_hello *h, const struct data_set *data, enum isa isa,
                                 const struct arguments *a, struct error *e)
{
    TRY(data_hash(data, h->data_hash, e));
    library_name(h->mpi, sizeof h->mpi);
    COPY_TEXT(h->precision, REAL_NAME);
    COPY_TEXT(h->isa, isa_names()[isa]);
    COPY_TEXT(h->libraries, a->libraries);
    COPY_TEXT(h->blas, a->library != NULL ? a->library : gemm_library());
    COPY_TEXT(h->dataset, data->name);
    COPY_TEXT(h->data_source, data->source);
    return OK;
}

json_t *report_identity(const struct data_set *data, enum isa isa, const struct arguments *a,
                        struct error *e)
{
    struct record_hello hello;
    record_clear(RECORD_hello, &hello);
    return take_identity(&hello, data, isa, a, e) == OK ? record_identity_json(&hello) : NULL;
}

json_t *report_hello(const struct trainer *t, const struct arguments *a, double read_s,
                     const char *bound, struct error *e)
{
    struct record_hello hello;
    record_clear(RECORD_hello, &hello);
    hello.schema = RECORD_SCHEMA;
    hello.rank = t->job.rank;
    hello.ranks = t->job.ranks;
    hello.read_s = read_s;
    COPY_TEXT(hello.workload, a->program);
    if (take_identity(&hello, t->data, t->model.isa, a, e) != OK)
        return NULL;
    COPY_TEXT(hello.version, a->version);
    take_work(&hello, t);
    take_data(&hello, t, &a->config);
    take_training(&hello, t, &a->config);
    take_platform(&hello, t, bound);
    return record_json(RECORD_hello, &hello);
}

enum status step_log_write(struct step_log *log, struct recorder *recorder, struct error *e)
{
    for (size_t i = 0; i < log->n; i++)
        TRY(recorder_add(recorder, record_json(RECORD_step, &log->steps[i]), e));
    log->n = 0;
    return OK;
}

json_t *report_epoch(const struct trainer *t, const struct progress *p,
                     const struct noise_estimate *noise)
{
    const struct score *score = &p->train;
    struct record_epoch line;
    record_clear(RECORD_epoch, &line);
    line.epoch = p->epoch;
    line.seconds = p->seconds;
    line.steps = t->batches.sampler.steps;
    line.samples = (int64_t)score->samples;
    line.train_loss = score->loss_sum / score->samples;
    line.train_acc_pct = 100.0 * score->correct / score->samples;
    line.lr = trainer_lr(t);
    line.loss_scale = trainer_loss_scale(t);
    line.ranks = t->job.ranks;
    line.global_batch = t->batches.sampler.full_images;
    line.grad_norm2 = noise->norm2;
    line.grad_variance = noise->variance;
    return record_json(RECORD_epoch, &line);
}

static json_t *counts_of(const struct class_counts *classes, bool correct)
{
    json_t *array = json_array();
    for (int i = 0; i < classes->n; i++)
        json_array_append_new(
            array, json_integer(correct ? classes->of[i].correct : classes->of[i].samples));
    return array;
}

json_t *report_eval(uint32_t epoch, double seconds, const struct score *score,
                    const struct class_counts *classes)
{
    struct record_eval line;
    record_clear(RECORD_eval, &line);
    line.epoch = epoch;
    line.seconds = seconds;
    line.samples = (int64_t)score->samples;
    line.test_loss = score->loss_sum / score->samples;
    line.test_acc_pct = 100.0 * score->correct / score->samples;
    json_t *json = record_json(RECORD_eval, &line);
    json_object_set_new(json, "class_samples", counts_of(classes, false));
    json_object_set_new(json, "class_correct", counts_of(classes, true));
    return json;
}

static double seconds_of(struct timeval t)
{
    return (double)t.tv_sec + 1e-6 * (double)t.tv_usec;
}

/* Sets members of *end: traffic of the timed steps, fp16 overflows and loss scale. */
static void take_traffic(struct record_end *end, const struct trainer *t,
                         const struct traffic *traffic)
{
    const struct cost total =
        traffic_total(traffic, t->sync, t->steps_done, (uint64_t)end->timed_steps);
    end->calls = (int64_t)total.calls;
    end->bytes_payload = (int64_t)total.bytes_payload;
    end->bytes_wire = (int64_t)total.bytes_wire;
    end->messages_wire = (int64_t)total.messages_wire;
    end->bytes_stages = (int64_t)traffic->stage_bytes;
    end->bytes_tensor = (int64_t)traffic->tensor_bytes;
    end->bytes_batch_norm = (int64_t)traffic->batch_norm_bytes;
    COPY_TEXT(end->wire_source, total.wire_source);
    bool overflows = compressor_flags(t->sync->config.compressor) & COMPRESSOR_OVERFLOWS;
    end->infinite = overflows ? (double)t->sync->infinite : NAN;
    end->loss_scale = trainer_loss_scale(t);
    end->skipped_steps = isnan(end->loss_scale) ? NAN : (double)t->sync->loss_scale.skipped;
}

json_t *report_end(struct record_end *end, const struct trainer *t, const struct traffic *traffic)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    COPY_TEXT(end->status, "ok");
    end->activations_kept = t->model.stage.kept_most;
    end->user_s = seconds_of(usage.ru_utime);
    end->sys_s = seconds_of(usage.ru_stime);
    COPY_TEXT(end->check, t->replayed == NULL ? config_text(t->config, OPT_CHECK)
                                              : names_checks->names[CHECK_none]);
    take_traffic(end, t, traffic);
    return record_json(RECORD_end, end);
}
