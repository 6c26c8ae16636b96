#include "bench/forecast/simulation.h"

#include <math.h>
#include <stdlib.h>

#include "bench/collect/collect.h"
#include "bench/figures/prediction.h"
#include "bench/forecast/forecast.h"
#include "bench/runner/files.h"
#include "kernels/base/mem.h"
#include "kernels/base/rng.h"
#include "kernels/base/text.h"

/* Number of untimed periods before the timed periods, so that ranks have drifted apart. Member
 * `period` of struct simulation is the number of steps in a period. */
enum { WARM_PERIODS = 2 };

/* ---- Opening ---- */

static uint64_t periods_of(const struct simulation *s)
{
    uint64_t steps = (uint64_t)config_int(s->config, OPT_TIME_STEPS);
    return steps > s->period ? steps / s->period : 1;
}

/* Lists the times of a rank's MPI calls: one at the start of each communication operation, and one
 * when computing ends. */
static enum status take_calls(struct simulation *s, struct error *e)
{
    TRY(MEM_NEW(s->calls_s, s->program.n + 1, "the calls of a simulation", e));
    for (size_t i = 0; i < s->program.n; i++)
        s->calls_s[i] = s->times.ready_s[s->program.all[i].tensor];
    s->calls_s[s->program.n] = s->times.compute_s;
    return OK;
}

/* Sets the times at which messages can start. With overlap or over TCP sockets, a message can start
 * once backward has computed its gradients. Otherwise, messages start after backward. Over TCP
 * sockets without overlap, messages advance only at MPI calls. */
static enum status take_ready(struct simulation *s, struct error *e)
{
    unsigned flags = strategy_flags(config_strategy_kind(s->config));
    s->overlaps = (flags & STRATEGY_OVERLAPS) && config_overlap(s->config) != OVERLAP_none;
    if (!s->overlaps && s->machine.socket_bytes > 0)
        return take_calls(s, e);
    for (int i = 0; i < s->point->net->net.n_tensors && !s->overlaps; i++)
        s->times.ready_s[i] = s->times.compute_s;
    return OK;
}

static enum status open_network(struct simulation *s, const struct spec *spec, const char *run,
                                struct error *e)
{
    struct launch_result *r = s->result;
    char words[256];
    struct link_model memory = forecast_memory;
    TRY(prediction_link(&memory, words, spec, run, r->host, e));
    s->machine = forecast_simulated(s->config, &memory);
    memory = s->machine.memory;
    snprintf(r->calibration, sizeof r->calibration,
             "%.60s; alpha %.3g us; beta %.3g ns; gamma %.3g ns", s->times.from,
             1e6 * memory.alpha_s, 1e9 * memory.beta_s, 1e9 * memory.gamma_s);
    return OK;
}

static enum status open_sleeps(struct simulation *s, struct error *e)
{
    TRY(MEM_NEW(s->injects, (size_t)s->ranks, "the sleeps of a simulation", e));
    TRY(MEM_NEW(s->sleeps, (size_t)s->ranks, "the sleeps of a simulation", e));
    for (int rank = 0; rank < s->ranks; rank++)
        TRY(inject_open(&s->injects[rank], s->config, rank, s->ranks, e));
    return OK;
}

static enum status open_clocks(struct simulation *s, struct error *e)
{
    size_t ranks = (size_t)s->ranks;
    TRY(MEM_NEW(s->starts_s, ranks, "the clocks of a simulation", e));
    TRY(MEM_NEW(s->begins_s, ranks, "the clocks of a simulation", e));
    TRY(MEM_NEW(s->paces, ranks, "the clocks of a simulation", e));
    TRY(MEM_NEW(s->spent_s, ranks, "the clocks of a simulation", e));
    TRY(MEM_NEW(s->waits_s, ranks, "the clocks of a simulation", e));
    s->periods = (int)periods_of(s);
    TRY(MEM_NEW(s->periods_s, (size_t)s->periods, "the steps of a simulation", e));
    TRY(clock_sweep_open(&s->sweep, &s->machine, s->ranks, e));
    s->sweep.seed = s->seed;
    s->sweep.ready_s = s->times.ready_s;
    s->sweep.begins_s = s->begins_s;
    s->sweep.paces = s->paces;
    s->sweep.calls_s = s->calls_s;
    s->sweep.n_calls = s->calls_s != NULL ? s->program.n + 1 : 0;
    return OK;
}

void simulation_close(struct simulation *s)
{
    clock_sweep_close(&s->sweep);
    program_list_free(&s->program);
    step_times_free(&s->times);
    free(s->calls_s);
    free(s->injects);
    free(s->sleeps);
    free(s->starts_s);
    free(s->begins_s);
    free(s->paces);
    free(s->spent_s);
    free(s->waits_s);
    free(s->periods_s);
    free(s->result);
}

/* ---- Periods ---- */

/* Returns a rank's mean step time in a period, relative to the typical step. Each step's value is
 * drawn at random from the measured steps (times.paces). */
static double draw_pace(const struct simulation *s, int period, int rank)
{
    double sum = 0;
    for (uint64_t i = 0; i < s->period; i++) {
        uint32_t word = rng_word(s->seed, RNG_STREAM(RNG_STRAGGLER, 0), (uint32_t)period,
                                 (uint32_t)rank, (uint32_t)i);
        sum += s->times.paces[(size_t)(rng_unit(word) * (double)s->times.n_paces)];
    }
    return sum / (double)s->period;
}

/* Returns a rank's injected sleeps, summed over the steps of a period; all 0 in untimed periods.
 * With overlap, a sleep after backward delays only the rank's wait, since the messages are already
 * in transit. */
static struct simulation_sleeps draw_sleeps(const struct simulation *s, int period, int rank)
{
    const struct inject *in = &s->injects[rank];
    struct simulation_sleeps sum = {0};
    for (uint64_t i = 0; i < s->period && period >= WARM_PERIODS; i++) {
        uint64_t step = (uint64_t)config_int(s->config, OPT_TIME_WARMUP) +
                        (uint64_t)(period - WARM_PERIODS) * s->period + i + 1;
        double after_s = inject_seconds(in, INJECT_PHASE_backward, step) +
                         inject_seconds(in, INJECT_PHASE_sync, step);
        sum.early += inject_seconds(in, INJECT_PHASE_load, step) +
                     inject_seconds(in, INJECT_PHASE_forward, step) + (s->overlaps ? 0 : after_s);
        sum.late += s->overlaps ? after_s : 0;
        sum.last += inject_seconds(in, INJECT_PHASE_update, step);
    }
    return sum;
}

/* Begins a period (s->period steps) on each rank at the end of the rank's previous period. Only the
 * last step of a period has messages. */
static void begin_period(struct simulation *s, int period)
{
    double step_s = s->times.compute_s + s->times.optimizer_s;
    for (int r = 0; r < s->ranks; r++) {
        s->paces[r] = draw_pace(s, period, r);
        s->sleeps[r] = draw_sleeps(s, period, r);
        s->starts_s[r] = s->sweep.clock_s[r];
        s->begins_s[r] =
            s->starts_s[r] + s->sleeps[r].early + (double)(s->period - 1) * s->paces[r] * step_s;
    }
}

/* Returns the time at which a rank begins to wait: after it has computed and slept. */
static double waits_at(const struct simulation *s, int rank)
{
    return s->begins_s[rank] + s->paces[rank] * s->times.compute_s + s->sleeps[rank].late;
}

/* Adds a rank's times in a period to the sums. A period has s->period steps, of which only the last
 * communicates. `ended_s`: end of the rank's compute and messages; `last_s`: latest time at which
 * any rank begins to wait. */
static void count_period(struct simulation *s, int rank, double ended_s, double last_s)
{
    const struct simulation_sleeps *slept = &s->sleeps[rank];
    double waits_s = waits_at(s, rank), first_s = waits_s;
    if (s->program.n > 0)
        first_s = s->begins_s[rank] + s->paces[rank] * s->times.ready_s[s->program.all[0].tensor];
    s->spent_s[rank] += s->sweep.clock_s[rank] - s->starts_s[rank];
    s->waits_s[rank] += fmin(ended_s - waits_s, last_s - waits_s);
    s->sums.exposed += ended_s - waits_s;
    s->sums.total += fmax(ended_s - first_s, 0);
    s->sums.slept += slept->early + slept->late + slept->last;
}

/* Ends a period on a rank. A period has s->period steps, of which only the last has messages. The
 * rank's clock becomes the end of compute and messages, plus the weight update and the sleeps
 * injected in phase update. If `timed`, adds the rank's times to the sums. */
static void end_period(struct simulation *s, int rank, double last_s, bool timed)
{
    double *clock_s = &s->sweep.clock_s[rank], ended_s = fmax(*clock_s, waits_at(s, rank));
    *clock_s = ended_s + s->paces[rank] * s->times.optimizer_s + s->sleeps[rank].last;
    if (timed)
        count_period(s, rank, ended_s, last_s);
}

static void run_period(struct simulation *s, int period)
{
    double last_s = 0, longest_s = 0;
    bool timed = period >= WARM_PERIODS;
    begin_period(s, period);
    for (int r = 0; r < s->ranks; r++)
        last_s = fmax(last_s, waits_at(s, r));
    for (size_t i = 0; i < s->program.n; i++)
        reader_give(&s->sweep.reader, s->program.all[i]);
    for (int r = 0; r < s->ranks; r++) {
        end_period(s, r, last_s, timed);
        longest_s = fmax(longest_s, s->sweep.clock_s[r] - s->starts_s[r]);
    }
    if (timed)
        s->periods_s[period - WARM_PERIODS] = longest_s;
}

/* ---- Results ---- */

/* Sets comm_replay_ms: simulated communication time per step if no rank computes (see
 * measure.replay). */
static enum status take_replay(struct simulation *s, struct error *e)
{
    struct clock_sweep alone;
    enum status status = clock_sweep_open(&alone, &s->machine, s->ranks, e);
    for (size_t i = 0; i < s->program.n && status == OK; i++)
        reader_give(&alone.reader, s->program.all[i]);
    if (status == OK)
        s->result->comm_replay_ms = 1e3 * clock_sweep_latest_s(&alone) / (double)s->period;
    clock_sweep_close(&alone);
    return status;
}

/* Counts the calls, messages and bytes of all ranks. Sets their means per step and rank in the
 * result. */
static void take_traffic(struct simulation *s)
{
    struct launch_result *r = s->result;
    struct cost cost = {.wire_source = "none"};
    for (int rank = 0; rank < s->ranks; rank++) {
        struct counter counter = counter_of(&cost, rank, s->ranks);
        for (size_t i = 0; i < s->program.n; i++)
            reader_give(&counter.reader, s->program.all[i]);
    }
    double n = (double)s->ranks * (double)s->period;
    r->calls = (double)cost.calls / n;
    r->bytes_payload = (double)cost.bytes_payload / n;
    r->bytes_wire = (double)cost.bytes_wire / n;
    r->messages_wire = (double)cost.messages_wire / n;
    snprintf(r->wire_source, sizeof r->wire_source, "%s", s->program.n > 0 ? "program" : "none");
}

static enum status take_memory(struct simulation *s, struct error *e)
{
    struct sync_memory m;
    TRY(point_memory(&m, s->point, sizeof(float), e));
    s->result->params_mib = (double)m.params / 0x1p20;
    s->result->grads_mib = (double)m.grads / 0x1p20;
    s->result->state_mib = (double)m.state / 0x1p20;
    return OK;
}

static void take_waits(struct simulation *s, double steps)
{
    struct launch_result *r = s->result;
    double sum_s = 0;
    if (s->program.n == 0)
        return;
    for (int rank = 0; rank < s->ranks; rank++) {
        sum_s += s->waits_s[rank];
        if (rank < RANK_WAITS)
            r->rank_waits[rank] = 1e3 * s->waits_s[rank] / steps;
    }
    r->wait_ms = 1e3 * sum_s / steps / s->ranks;
    launch_list_waits(r, s->ranks);
}

/* Returns the number of training images of an epoch; NAN if only the files of the data set
 * determine it. */
static double train_images(const struct simulation *s)
{
    double some = config_number(s->config, OPT_DATA_SAMPLES),
           all = config_data_set(s->config)->train;
    return some > 0 ? some : all > 0 ? all : NAN;
}

/* Sets the times of a step in the result: its parts as means over ranks and steps, the whole step
 * as the time of the slowest rank. */
static void take_times(struct simulation *s)
{
    struct launch_result *r = s->result;
    double steps = (double)s->periods * (double)s->period, slowest_s = 0;
    double each = 1e3 / (steps * s->ranks), mean_pace = s->times.mean_pace;
    for (int rank = 0; rank < s->ranks; rank++)
        slowest_s = fmax(slowest_s, s->spent_s[rank]);
    r->steps = steps;
    r->step_ms = 1e3 * slowest_s / steps;
    r->load_ms = 1e3 * mean_pace * s->times.load_s;
    r->forward_ms = 1e3 * mean_pace * s->times.forward_s;
    r->backward_ms = 1e3 * mean_pace * (s->times.compute_s - s->times.load_s - s->times.forward_s);
    r->optimizer_ms = 1e3 * mean_pace * s->times.optimizer_s;
    r->pack_ms = r->late_ms = r->bubble_ms = 0;
    r->inject_ms = each * s->sums.slept;
    r->comm_exposed_ms = each * s->sums.exposed;
    r->comm_total_ms = each * s->sums.total;
    r->step_p95_ms =
        1e3 * stats_quantile(s->periods_s, (size_t)s->periods, 0.95) / (double)s->period;
    r->step_max_ms = 1e3 * stats_quantile(s->periods_s, (size_t)s->periods, 1) / (double)s->period;
    r->epoch_timed_s = 1e-3 * r->step_ms * train_images(s) / config_images_taken(s->config);
    take_waits(s, steps);
}

/* Sets the results that are known without the simulation. */
static void take_facts(struct simulation *s)
{
    struct launch_result *r = s->result;
    enum strategy_variant variant;
    const struct net_desc *net = &s->point->net->net;
    r->ranks = s->ranks;
    r->nodes = config_number(s->config, OPT_NODES);
    r->ranks_per_node = config_node_ranks(s->config, 0);
    r->global_batch = config_images(s->config);
    r->batch_per_rank = r->global_batch / s->ranks;
    r->params = (double)net->n_params;
    r->flops_per_image = (double)(net->flops_forward + net->flops_backward);
    r->weights_checked = r->weights_equal = 0;
    r->last_rank = -1;
    snprintf(r->compute, sizeof r->compute, "replayed");
    if (config_variant(s->config, &variant, NULL) == OK)
        snprintf(r->sync_variant, sizeof r->sync_variant, "%s", strategy_variant_name(variant));
    snprintf(r->train_precision, sizeof r->train_precision, "%s",
             config_text(s->config, OPT_PRECISION));
}

enum status simulation_open(struct simulation *s, const struct spec *spec, size_t point,
                            const char *run, const char *calibration, struct error *e)
{
    s->point = &spec->points[point];
    s->config = &s->point->config;
    s->ranks = (int)config_int(s->config, OPT_RANKS);
    s->program = program_list_of(e);
    TRY(MEM_NEW(s->result, 1, "the results of a launch", e));
    launch_clear(s->result);
    TRY(step_times_open(&s->times, s->point, calibration, s->parts, s->result, e));
    TRY(open_network(s, spec, run, e));
    TRY(prediction_program(&s->period, &s->program, s->point, sizeof(float), &s->machine, e));
    TRY(take_ready(s, e));
    return open_sleeps(s, e);
}

enum status simulation_run(struct simulation *s, struct error *e)
{
    TRY(open_clocks(s, e));
    for (int period = 0; period < WARM_PERIODS + s->periods; period++)
        run_period(s, period);
    take_facts(s);
    take_times(s);
    take_traffic(s);
    if (config_int(s->config, OPT_REPLAY) > 0)
        TRY(take_replay(s, e));
    return take_memory(s, e);
}
