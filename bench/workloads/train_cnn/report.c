#include "bench/workloads/train_cnn/report.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "bench/place/hardware.h"
#include "comm/algorithm.h"
#include "comm/cost/cost.h"
#include "comm/library.h"
#include "kernels/base/clock.h"
#include "kernels/base/mem.h"

static const char *thread_level(void)
{
    int level;
    MPI_Query_thread(&level);
    return level == MPI_THREAD_SINGLE       ? "single"
           : level == MPI_THREAD_FUNNELED   ? "funneled"
           : level == MPI_THREAD_SERIALIZED ? "serialized"
                                            : "multiple";
}

/* Cut to fit. */
#define COPY_TEXT(to, from) snprintf(to, sizeof(to), "%s", from)

/* What is about the machine and the libraries. */
static void take_platform(struct record_hello *h, const struct trainer *t, const char *bound)
{
    gethostname(h->host, sizeof h->host - 1);
    hardware_machine(h->machine, sizeof h->machine);
    hardware_cpu(h->cpu, sizeof h->cpu);
    clock_calibrate(&h->timer_resolution_ns, &h->timer_overhead_ns);
    h->pid = getpid();
    h->threads = pool_threads(t->exec.pool);
    h->flushes_denormals = fp_mode_flushes() ? VERDICT_TRUE : VERDICT_FALSE;
    COPY_TEXT(h->bound, bound);
    COPY_TEXT(h->mpi_thread_level, thread_level());
}

/* The net, and what is really computed of the FLOPs that it has as written. */
static void take_work(struct record_hello *h, const struct trainer *t)
{
    const struct net *net = t->net;
    char kernels[KERNELS_TEXT] = "fixed", savings[SAVINGS_TEXT];
    if (trainer_tunes(t->config))
        net_kernels_text(net, t->desc, kernels);
    COPY_TEXT(h->model, t->desc->name);
    h->params = (int64_t)t->desc->n_params;
    h->flops_forward = (int64_t)t->desc->flops_forward;
    h->flops_backward = (int64_t)t->desc->flops_backward;
    h->flops_done_forward = (double)net_flops_done(net, false);
    h->flops_done_backward = (double)net_flops_done(net, true);
    COPY_TEXT(h->savings, savings_text(savings, net_savings(net)));
    COPY_TEXT(h->kernels_tuned, kernels);
}

/* "conv1 relu1 maxpool2d1": nothing where the rank computes the whole net. */
static void take_stage(struct record_hello *h, const struct trainer *t)
{
    char layers[NET_OP_LAYERS];
    size_t used = 0, room = sizeof h->stage_layers;
    for (int op = t->stage.first; op < t->stage.last && t->grid.stages > 1 && used < room; op++)
        used += (size_t)snprintf(h->stage_layers + used, room - used, "%s%s", used > 0 ? " " : "",
                                 net_op_layers(t->net, t->desc, op, layers));
}

static void take_training(struct record_hello *h, const struct trainer *t, const struct config *c)
{
    double target = config_number(c, OPT_TARGET_ACC);
    h->lr = config_number(c, OPT_LR);
    h->target_acc_pct = target > 0 ? target : NAN;
    COPY_TEXT(h->train_precision, config_text(c, OPT_PRECISION));
    h->seed = (int64_t)t->exec.seed;
    h->batch = t->micro_max;
    h->global_batch = t->global_batch;
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
    h->train_images = t->sampler.n_samples;
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
    COPY_TEXT(h->blas, gemm_library());
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
    hello.rank = t->rank;
    hello.ranks = t->ranks;
    hello.read_s = read_s;
    COPY_TEXT(hello.workload, "train_cnn");
    if (take_identity(&hello, t->data, t->isa, a, e) != OK)
        return NULL;
    COPY_TEXT(hello.version, a->version);
    take_work(&hello, t);
    take_data(&hello, t, &a->config);
    take_training(&hello, t, &a->config);
    take_platform(&hello, t, bound);
    return record_json(RECORD_hello, &hello);
}

static json_t *report_step(const struct step_record *r, bool timed)
{
    struct record_step step;
    record_clear(RECORD_step, &step);
    step.epoch = r->epoch;
    step.step = r->step;
    step.timed = timed ? VERDICT_TRUE : VERDICT_FALSE;
    step.samples = (int64_t)r->score.samples;
    step.loss_sum = r->score.loss_sum;
    step.correct = (int64_t)r->score.correct;
    step.begin_ns = r->begin_ns;
    step.end_ns = r->end_ns;
    step.load_ns = r->load_ns;
    step.forward_ns = r->forward_ns;
    step.backward_ns = r->backward_ns;
    step.pack_ns = r->sync.pack_ns;
    step.comm_total_ns = r->sync.comm_total_ns;
    step.comm_exposed_ns = r->sync.comm_exposed_ns;
    step.optimizer_ns = r->sync.optimizer_ns;
    step.arrive_ns = r->sync.arrive_ns;
    step.poll_ns = r->poll_ns;
    step.progress_ns = r->sync.poll_ns;
    step.inject_ns = r->inject_ns;
    step.loss_scale = r->loss_scale;
    step.skipped = r->skipped;
    step.late_ns = r->late_ns;
    step.bubble_ns = r->bubble_ns;
    step.batch_norm_ns = r->batch_norm_ns;
    step.replayed_ns = r->replayed_ns;
    snprintf(step.hash, sizeof step.hash, "%016" PRIx64, r->hash);
    return record_json(RECORD_step, &step);
}

struct kept_step {
    struct step_record record;
    bool timed;
};

enum status step_log_open(struct step_log *log, size_t capacity, struct error *e)
{
    *log = (struct step_log){.capacity = capacity};
    return MEM_NEW_ALIGNED(log->steps, capacity, "the steps of the record", e);
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
    struct record_epoch line;
    record_clear(RECORD_epoch, &line);
    line.epoch = epoch;
    line.seconds = seconds;
    line.steps = steps;
    line.samples = (int64_t)score->samples;
    line.train_loss = score->loss_sum / score->samples;
    line.train_acc_pct = 100.0 * score->correct / score->samples;
    line.lr = trainer_lr(t);
    line.loss_scale = trainer_loss_scale(t);
    line.ranks = t->ranks;
    line.global_batch = t->global_batch;
    return record_json(RECORD_epoch, &line);
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
    struct record_eval line;
    record_clear(RECORD_eval, &line);
    line.epoch = epoch;
    line.seconds = seconds;
    line.samples = (int64_t)score->samples;
    line.test_loss = score->loss_sum / score->samples;
    line.test_acc_pct = 100.0 * score->correct / score->samples;
    json_t *json = record_json(RECORD_eval, &line);
    json_object_set_new(json, "class_samples", counts_of(classes->samples, classes->n));
    json_object_set_new(json, "class_correct", counts_of(classes->correct, classes->n));
    return json;
}

static double seconds_of(struct timeval t)
{
    return (double)t.tv_sec + 1e-6 * (double)t.tv_usec;
}

static void take_nic(struct record_end *end, const struct timed_interval *timed)
{
    const struct nic_counts *a = &timed->nic_begin, *b = &timed->nic_end;
    double known = timed->counts_nic ? 1 : NAN;
    end->bytes_nic = known * (double)(b->bytes_sent - a->bytes_sent);
    end->bytes_nic_received = known * (double)(b->bytes_received - a->bytes_received);
    end->packets_nic_sent = known * (double)(b->packets_sent - a->packets_sent);
    end->packets_nic_received = known * (double)(b->packets_received - a->packets_received);
}

/* What was sent in the timed steps, which are the last ones. */
static void take_traffic(struct record_end *end, const struct trainer *t,
                         const struct timed_interval *timed)
{
    const struct traffic *traffic = &timed->traffic;
    const struct cost total = traffic_total(traffic, t, timed->timed_steps);
    end->calls = (int64_t)total.calls;
    end->bytes_payload = (int64_t)total.bytes_payload;
    end->bytes_wire = (int64_t)total.bytes_wire;
    end->messages_wire = (int64_t)total.messages_wire;
    end->bytes_stages = (int64_t)traffic->stage_bytes;
    end->bytes_tensor = (int64_t)traffic->tensor_bytes;
    end->bytes_batch_norm = (int64_t)traffic->batch_norm_bytes;
    COPY_TEXT(end->wire_source, total.wire_source);
    take_nic(end, timed);
    bool overflows = compressor_flags(t->sync->config.compressor) & COMPRESSOR_OVERFLOWS;
    end->infinite = overflows ? (double)t->sync->infinite : NAN;
    end->loss_scale = trainer_loss_scale(t);
    end->skipped_steps = isnan(end->loss_scale) ? NAN : (double)t->sync->loss_scale.skipped;
}

/* Between the first timed step and the last; none of them leaves it unknown. */
static void take_interruptions(struct record_end *end, const struct timed_interval *timed)
{
    const struct rusage *a = &timed->usage_begin, *b = &timed->usage_end;
    bool known = timed->timed_steps > 0;
    end->switches_voluntary = known ? (double)(b->ru_nvcsw - a->ru_nvcsw) : NAN;
    end->switches_involuntary = known ? (double)(b->ru_nivcsw - a->ru_nivcsw) : NAN;
    end->faults_minor = known ? (double)(b->ru_minflt - a->ru_minflt) : NAN;
    end->faults_major = known ? (double)(b->ru_majflt - a->ru_majflt) : NAN;
}

static void take_cores(struct record_end *end, const struct load_share *cores)
{
    end->cores_s = cores->total_s;
    end->cores_busy_s = cores->busy_s;
    end->cores_steal_s = cores->steal_s;
    end->cores_own_s = cores->own_s;
}

static void take_verdicts(struct record_end *end, const struct comparison *comparison,
                          const struct divergence *divergence)
{
    if (comparison->made)
        end->weights_equal = comparison->equal ? VERDICT_TRUE : VERDICT_FALSE;
    COPY_TEXT(end->first_difference, comparison->first_difference);
    end->diverged_step = divergence->step > 0 ? (double)divergence->step : NAN;
    if (divergence->step > 0)
        COPY_TEXT(end->diverged, divergence->text);
}

static void take_clock(struct record_end *end, const struct rank_clock *clock)
{
    end->clock_of = clock->of;
    end->clock_begin_at_ns = clock->line.begin.at_ns;
    end->clock_begin_offset_ns = clock->line.begin.offset_ns;
    end->clock_begin_error_ns = clock->line.begin.error_ns;
    end->clock_end_at_ns = clock->line.end.at_ns;
    end->clock_end_offset_ns = clock->line.end.offset_ns;
    end->clock_end_error_ns = clock->line.end.error_ns;
}

static void take_arenas(struct record_end *end, const struct arena_use *u)
{
    end->params_mib = u->seen ? u->params_mib : NAN;
    end->grads_mib = u->seen ? u->grads_mib : NAN;
    end->state_mib = u->seen ? u->state_mib : NAN;
}

json_t *report_end(const struct trainer *t, const struct timed_interval *timed,
                   const struct memory_use *memory, const struct comparison *comparison,
                   const struct divergence *divergence, const struct rank_clock *clock)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    struct record_end end;
    record_clear(RECORD_end, &end);
    COPY_TEXT(end.status, "ok");
    end.steps = (int64_t)timed->steps;
    end.timed_steps = (int64_t)timed->timed_steps;
    end.window_ns = timed->steps_ns;
    end.loop_ns = timed->end_ns - timed->begin_ns;
    end.window_cpu_ns = timed->cpu_ns;
    end.poll_ns = timed->poll_ns;
    end.fetches = timed->fetches;
    end.fetch_s = timed->fetches > 0 ? timed->fetch_s / timed->fetches : NAN;
    end.checkpoints = (int64_t)timed->checkpoints;
    end.checkpoint_s = 1e-9 * (double)timed->checkpoint_ns;
    end.replays = timed->replays;
    end.replay_ns = timed->replays > 0 ? (double)timed->replay_ns : NAN;
    end.activations_kept = t->stage.kept_most;
    end.user_s = seconds_of(usage.ru_utime);
    end.sys_s = seconds_of(usage.ru_stime);
    end.rss_mib = memory->peak_mib;
    end.data_mib = memory->data_mib;
    end.libraries_mib = memory->libraries_mib;
    COPY_TEXT(end.check, t->replayed == NULL ? config_text(t->config, OPT_CHECK)
                                             : names_checks->names[CHECK_none]);
    take_arenas(&end, &t->arena_use);
    take_traffic(&end, t, timed);
    take_interruptions(&end, timed);
    take_cores(&end, &timed->cores);
    take_verdicts(&end, comparison, divergence);
    take_clock(&end, clock);
    return record_json(RECORD_end, &end);
}
