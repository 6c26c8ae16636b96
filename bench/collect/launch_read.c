/* What a launch comes to: means, sums and extremes of its ranks' records. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench/collect/collect.h"
#include "bench/record/records.h"
#include "kernels/base/text.h"

/* Mean over ranks and timed steps of a duration, in milliseconds. */
static double mean_ms(const struct rank_record *records, int ranks, size_t offset)
{
    double sum = 0;
    size_t n = 0;
    for (int i = 0; i < ranks; i++) {
        const struct record_step *steps = records[i].steps.items;
        for (size_t k = 0; k < records[i].steps.n; k++)
            sum += (double)*(const int64_t *)((const char *)&steps[k] + offset);
        n += records[i].steps.n;
    }
    return n ? sum / (double)n / 1e6 : NAN;
}

static void fill_phases(struct launch_result *result, const struct rank_record *records)
{
    int p = result->ranks;
    result->load_ms = mean_ms(records, p, offsetof(struct record_step, load_ns));
    result->forward_ms = mean_ms(records, p, offsetof(struct record_step, forward_ns));
    result->backward_ms = mean_ms(records, p, offsetof(struct record_step, backward_ns));
    result->pack_ms = mean_ms(records, p, offsetof(struct record_step, pack_ns));
    result->comm_total_ms = mean_ms(records, p, offsetof(struct record_step, comm_total_ns));
    result->comm_exposed_ms = mean_ms(records, p, offsetof(struct record_step, comm_exposed_ns));
    result->progress_ms = mean_ms(records, p, offsetof(struct record_step, progress_ns));
    result->inject_ms = mean_ms(records, p, offsetof(struct record_step, inject_ns));
    result->optimizer_ms = mean_ms(records, p, offsetof(struct record_step, optimizer_ns));
}

/* Step k of those that were timed, or of those that were not. */
static const struct record_step *step_of(const struct rank_record *r, bool timed, size_t k)
{
    const struct list *steps = timed ? &r->steps : &r->warmup;
    return (const struct record_step *)steps->items + k;
}

/* The rank that arrived last at step k; -1 where some rank has no arrival. */
static int last_to_arrive(const struct rank_record *records, int ranks, bool timed, size_t k)
{
    int last = 0;
    for (int i = 0; i < ranks; i++) {
        int64_t arrive_ns = step_of(&records[i], timed, k)->arrive_ns;
        if (arrive_ns == 0)
            return -1;
        if (arrive_ns > step_of(&records[last], timed, k)->arrive_ns)
            last = i;
    }
    return last;
}

/* Clocks of different nodes do not compare. */
static bool on_one_host(const struct rank_record *records, int ranks)
{
    for (int i = 1; i < ranks; i++)
        if (strcmp(records[i].hello.host, records[0].hello.host) != 0)
            return false;
    return true;
}

/* Waiting in a step: until the last arrived, but no longer than communication stood in the way.
 * Without arrivals (`last` is NULL) it is 0 if nothing was communicated, else unknown. */
static double wait_ns(const struct record_step *step, const struct record_step *last)
{
    double exposed = (double)step->comm_exposed_ns;
    if (!last)
        return exposed > 0 ? NAN : 0;
    double wait = (double)(last->arrive_ns - step->arrive_ns);
    return wait < exposed ? wait : exposed;
}

double records_wait_ns(const struct rank_record *records, int ranks, bool timed, size_t k, int rank)
{
    int last = on_one_host(records, ranks) ? last_to_arrive(records, ranks, timed, k) : -1;
    return wait_ns(step_of(&records[rank], timed, k),
                   last >= 0 ? step_of(&records[last], timed, k) : NULL);
}

/* "0.1|20.3"; ends with "..." where there are more ranks than are kept. */
static void list_rank_waits(struct launch_result *result)
{
    char number[TEXT_NUMBER];
    size_t used = 0;
    for (int i = 0; i < result->ranks && i < RANK_WAITS && !isnan(result->rank_waits[i]); i++) {
        size_t room = sizeof result->rank_wait_ms - used;
        text_real(number, result->rank_waits[i]);
        int more = snprintf(result->rank_wait_ms + used, room, "%s%s", i > 0 ? "|" : "", number);
        used = (size_t)more < room ? used + (size_t)more : used;
        result->rank_wait_ms[used] = '\0';
    }
    if (used > 0 && result->ranks > RANK_WAITS &&
        used + sizeof "|..." < sizeof result->rank_wait_ms)
        strcpy(result->rank_wait_ms + used, "|...");
}

/* The ranks' waits, once it is known which of them was how often the last. */
static void fill_rank_waits(struct launch_result *result, const struct rank_record *records)
{
    size_t n = records[0].steps.n;
    double sum = 0;
    for (int i = 0; i < result->ranks; i++) {
        double own = 0;
        for (size_t k = 0; k < n; k++) {
            int last = last_to_arrive(records, result->ranks, true, k);
            own += wait_ns(step_of(&records[i], true, k),
                           last >= 0 ? step_of(&records[last], true, k) : NULL);
        }
        sum += own;
        if (i < RANK_WAITS)
            result->rank_waits[i] = own / (double)n / 1e6;
    }
    list_rank_waits(result);
    result->wait_ms = sum / (double)n / result->ranks / 1e6;
}

static enum status fill_wait(struct launch_result *result, const struct rank_record *records,
                             struct error *e)
{
    int p = result->ranks;
    size_t n = records[0].steps.n, *times_last = calloc((size_t)p, sizeof *times_last);
    if (!times_last)
        return error_set(e, ERR_MEMORY, "no memory for %d ranks", p);
    size_t arrivals = 0;
    bool comparable = on_one_host(records, p);
    for (size_t k = 0; k < n && comparable; k++) {
        int last = last_to_arrive(records, p, true, k);
        if (last >= 0) {
            times_last[last]++;
            arrivals++;
        }
    }
    result->wait_ms = NAN;
    for (int i = 0; i < RANK_WAITS; i++)
        result->rank_waits[i] = NAN;
    if (comparable && n > 0)
        fill_rank_waits(result, records);
    result->last_rank = arrivals ? 0 : -1;
    for (int i = 1; i < p && arrivals; i++)
        if (times_last[i] > times_last[result->last_rank])
            result->last_rank = i;
    result->last_rank_pct =
        arrivals ? 100.0 * (double)times_last[result->last_rank] / (double)arrivals : NAN;
    free(times_last);
    return OK;
}

/* Sums over ranks, then means. */
static void fill_resources(struct launch_result *result, const struct rank_record *records)
{
    double p = result->ranks, steps = (double)records[0].end.timed_steps;
    double calls = 0, payload = 0, wire = 0, messages = 0, poll = 0, user = 0, sys = 0, cpu = 0;
    double nic = 0;
    for (int i = 0; i < result->ranks; i++) {
        const struct record_end *end = &records[i].end;
        calls += (double)end->calls;
        payload += (double)end->bytes_payload;
        wire += (double)end->bytes_wire;
        messages += (double)end->messages_wire;
        nic += end->bytes_nic;
        poll += (double)end->poll_ns / 1e9;
        user += end->user_s;
        sys += end->sys_s;
        cpu += (double)(end->window_cpu_ns - end->poll_ns) / (double)end->window_ns;
    }
    bool timed = steps > 0;
    result->calls = timed ? calls / p / steps : NAN;
    result->bytes_payload = timed ? payload / p / steps : NAN;
    result->bytes_wire = timed ? wire / p / steps : NAN;
    result->messages_wire = timed ? messages / p / steps : NAN;
    result->bytes_nic = timed ? nic / p / steps : NAN;
    result->cpu_pct = timed ? 100 * cpu / p : NAN;
    result->poll_s = poll / p;
    result->user_s = user / p;
    result->sys_s = sys / p;
    strcpy(result->wire_source, records[0].end.wire_source);
}

/* Of the largest rank, each by itself. */
static void fill_memory(struct launch_result *result, const struct rank_record *records)
{
    result->rss_mib = result->data_mib = result->memory_mib = result->growth_mib = NAN;
    for (int i = 0; i < result->ranks; i++) {
        const struct record_end *end = &records[i].end;
        double memory_mib = end->rss_mib - end->data_mib;
        result->rss_mib = fmax(result->rss_mib, end->rss_mib);
        result->data_mib = fmax(result->data_mib, end->data_mib);
        result->memory_mib = fmax(result->memory_mib, memory_mib);
        result->growth_mib = fmax(result->growth_mib, memory_mib - end->libraries_mib);
    }
}

/* The slowest rank sets the pace. */
static void fill_step_time(struct launch_result *result, const struct rank_record *records)
{
    int64_t window = 0;
    for (int i = 0; i < result->ranks; i++)
        if (records[i].end.window_ns > window)
            window = records[i].end.window_ns;
    result->steps = (int)records[0].end.timed_steps;
    result->step_ms = result->steps ? (double)window / result->steps / 1e6 : NAN;
}

/* Median over epochs of the slowest rank's seconds; ranks may leave epochs to rank 0. */
static enum status fill_epochs(struct launch_result *result, const struct rank_record *records,
                               struct error *e)
{
    size_t n = 0;
    for (int i = 0; i < result->ranks; i++)
        n = records[i].epochs.n > n ? records[i].epochs.n : n;
    double *seconds = calloc(n + 1, sizeof *seconds);
    if (!seconds)
        return error_set(e, ERR_MEMORY, "no memory for %zu epochs", n);
    for (size_t k = 0; k < n; k++)
        seconds[k] = NAN;
    for (int i = result->ranks - 1; i >= 0; i--) {
        const struct record_epoch *epochs = records[i].epochs.items;
        for (size_t k = 0; k < records[i].epochs.n; k++)
            seconds[k] = fmax(seconds[k], epochs[k].seconds);
        if (records[i].epochs.n) {
            result->train_loss = epochs[records[i].epochs.n - 1].train_loss;
            result->train_acc_pct = epochs[records[i].epochs.n - 1].train_acc_pct;
        }
        if (records[i].evals.n) {
            const struct record_eval *evals = records[i].evals.items;
            result->test_loss = evals[records[i].evals.n - 1].test_loss;
            result->test_acc_pct = evals[records[i].evals.n - 1].test_acc_pct;
        }
    }
    result->epoch_s = stats_median(seconds, n);
    free(seconds);
    return OK;
}

static void fill_weights(struct launch_result *result, const struct rank_record *records)
{
    result->weights_checked = true;
    result->weights_equal = true;
    for (int i = 0; i < result->ranks; i++) {
        const struct record_end *end = &records[i].end;
        if (end->weights_equal == VERDICT_UNKNOWN)
            result->weights_checked = false;
        if (end->weights_equal != VERDICT_TRUE)
            result->weights_equal = false;
        if (!result->first_difference[0])
            strcpy(result->first_difference, end->first_difference);
    }
    strcpy(result->check, records[0].end.check);
}

/* Processors of every rank, separated by |; ends with "..." where there are too many. */
static void fill_bound(struct launch_result *result, const struct rank_record *records)
{
    size_t used = 0, room = sizeof result->bound - sizeof "...";
    for (int i = 0; i < result->ranks; i++) {
        const char *bound = records[i].hello.bound;
        size_t length = strlen(bound);
        if (used + 1 + length > room) {
            memcpy(result->bound + used, "...", sizeof "...");
            return;
        }
        if (i > 0)
            result->bound[used++] = '|';
        memcpy(result->bound + used, bound, length + 1);
        used += length;
    }
}

static void fill_identity(struct launch_result *result, const struct rank_record *records)
{
    const struct record_hello *hello = &records[0].hello;
    double batch = 0, infinite = 0;
    for (int i = 0; i < result->ranks; i++) {
        batch += (double)records[i].hello.batch;
        result->read_s = fmax(result->read_s, records[i].hello.read_s);
        result->comm_replay_ms = fmax(result->comm_replay_ms, records[i].end.replay_ns / 1e6);
        result->fetch_s = fmax(result->fetch_s, records[i].end.fetch_s);
        infinite += records[i].end.infinite;
        if (!(records[i].end.diverged_step >= result->diverged_step) &&
            records[i].end.diverged[0]) {
            result->diverged_step = records[i].end.diverged_step;
            strcpy(result->diverged, records[i].end.diverged);
        }
    }
    result->infinite = infinite;
    result->batch_per_rank = batch / result->ranks;
    result->global_batch = (long)hello->global_batch;
    result->params = (long)hello->params;
    result->flops_per_image = (double)(hello->flops_forward + hello->flops_backward);
    result->flops_done_per_image = hello->flops_done_forward + hello->flops_done_backward;
    strcpy(result->savings, hello->savings);
    strcpy(result->kernels_tuned, hello->kernels_tuned);
    strcpy(result->dataset, hello->dataset);
    strcpy(result->data_source, hello->data_source);
    strcpy(result->data_hash, hello->data_hash);
    strcpy(result->precision, hello->precision);
    strcpy(result->isa, hello->isa);
    strcpy(result->libraries, hello->libraries);
    strcpy(result->sync_variant, hello->sync_variant);
    strcpy(result->sync_algorithm, hello->sync_algorithm);
    strcpy(result->host, hello->host);
    strcpy(result->mpi, hello->mpi);
    strcpy(result->blas, hello->blas);
}

static enum status fill_result(struct launch_result *result, const struct rank_record *records,
                               int ranks, struct error *e)
{
    *result = (struct launch_result){.ranks = ranks,
                                     .read_s = NAN,
                                     .fetch_s = NAN,
                                     .comm_replay_ms = NAN,
                                     .diverged_step = NAN,
                                     .train_loss = NAN,
                                     .train_acc_pct = NAN,
                                     .test_loss = NAN,
                                     .test_acc_pct = NAN};
    fill_identity(result, records);
    fill_bound(result, records);
    fill_step_time(result, records);
    fill_phases(result, records);
    fill_resources(result, records);
    fill_memory(result, records);
    fill_weights(result, records);
    enum status status = fill_wait(result, records, e);
    return status == OK ? fill_epochs(result, records, e) : status;
}

void launch_diverged_text(char *text, size_t size, const struct launch_result *result)
{
    snprintf(text, size, "%s at step %.0f", result->diverged, result->diverged_step);
}

enum status launch_read(const char *dir, int ranks, struct launch_result *result, struct error *e)
{
    struct rank_record *records;
    enum status status = records_read(&records, dir, ranks, e);
    if (status == OK)
        status = fill_result(result, records, ranks, e);
    records_free(records, ranks);
    return status;
}

const char *launch_common(const struct launch_result *result, size_t i, const char **name)
{
#define COMMON(field)                                                                              \
    {                                                                                              \
#field, offsetof(struct launch_result, field)                                              \
    }
    static const struct {
        const char *name;
        size_t offset;
    } common[] = {
        COMMON(precision), COMMON(isa),         COMMON(mpi),       COMMON(blas),
        COMMON(dataset),   COMMON(data_source), COMMON(data_hash), COMMON(libraries),
    };
#undef COMMON
    if (i >= sizeof common / sizeof *common)
        return NULL;
    *name = common[i].name;
    return (const char *)result + common[i].offset;
}
