/* Reads the results of a launch from its ranks' records. Combines every metric over ranks, and
 * computes values that need several metrics. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench/base/homogeneity.h"
#include "bench/base/votes.h"
#include "bench/collect/collect.h"
#include "bench/collect/lists.h"
#include "bench/collect/metric.h"
#include "bench/collect/resources.h"
#include "bench/record/records.h"
#include "kernels/base/mem.h"
#include "kernels/base/text.h"

/* ---- Metrics: one field of the records each ---- */

/* how a metric is combined over ranks; same names as in metrics.def */
enum over_ranks { MEAN, PER_STEP, SUM, MAX, LIST, FIRST };

static const struct metric {
    enum field_id field;
    enum over_ranks over_ranks;
    enum csv_type type;
    const char *unit;
    size_t offset, size; /* offset and size of the metric's member of struct launch_result */
} metrics[METRICS] = {
#define METRIC(id, type, unit, line, field, kind, flags, ranks, launches, meaning)                 \
    {FIELD_##line##_##field,                                                                       \
     ranks,                                                                                        \
     CSV_##type,                                                                                   \
     unit,                                                                                         \
     offsetof(struct launch_result, id),                                                           \
     sizeof((struct launch_result *)0)->id},
#include "bench/record/metrics.def"
};

double metric_number(enum metric_id id, const void *const lines[RECORD_LINES])
{
    const struct field *field = field_get(metrics[id].field);
    const void *line = lines[field->line];
    return line != NULL ? field_number(field, line, metrics[id].unit) : NAN;
}

/* a rank's record lines of one kind, n structs of `size` bytes */
struct lines {
    const char *items;
    size_t n, size;
};

static struct lines lines_of(const struct rank_record *r, enum record_line line)
{
    const struct list *lists[RECORD_LINES] = {
        [RECORD_step] = &r->steps, [RECORD_epoch] = &r->epochs, [RECORD_eval] = &r->evals};
    static const size_t sizes[RECORD_LINES] = {[RECORD_step] = sizeof(struct record_step),
                                               [RECORD_epoch] = sizeof(struct record_epoch),
                                               [RECORD_eval] = sizeof(struct record_eval)};
    if (lists[line] != NULL)
        return (struct lines){lists[line]->items, lists[line]->n, sizes[line]};
    return (struct lines){line == RECORD_end ? (const void *)&r->end : &r->hello, 1, 0};
}

/* Returns the last line of this kind from the first rank that wrote such lines; NULL: no rank
 * did. */
static const void *first_line(const struct rank_record *records, int ranks, enum record_line line)
{
    for (int i = 0; i < ranks; i++) {
        struct lines lines = lines_of(&records[i], line);
        if (lines.n > 0)
            return lines.items + (lines.n - 1) * lines.size;
    }
    return NULL;
}

static double number_of(const struct metric *m, const struct rank_record *records, int ranks)
{
    const struct field *field = field_get(m->field);
    const void *first = first_line(records, ranks, field->line);
    double sum = 0, largest = NAN, steps = (double)records[0].end.timed_steps;
    size_t n = 0;
    for (int i = 0; i < ranks; i++) {
        struct lines lines = lines_of(&records[i], field->line);
        for (size_t k = 0; k < lines.n; k++) {
            double x = field_number(field, lines.items + k * lines.size, m->unit);
            sum += x;
            largest = fmax(largest, x);
        }
        n += lines.n;
    }
    switch (m->over_ranks) {
    case MEAN:
        return n > 0 ? sum / (double)n : NAN;
    case PER_STEP:
        return steps > 0 ? sum / ranks / steps : NAN;
    case SUM:
        return sum;
    case MAX:
        return largest;
    default:
        return first != NULL ? field_number(field, first, m->unit) : NAN;
    }
}

/* Joins the texts of all ranks with |, in the order of ranks; equal texts are repeated. If the list
 * does not fit, it ends with "...". */
static void list_texts(char *text, size_t size, const struct rank_record *records, int ranks,
                       const struct field *field)
{
    size_t used = 0, room = size - sizeof "...";
    for (int i = 0; i < ranks; i++) {
        const char *own = lines_of(&records[i], field->line).items + field->offset;
        size_t length = strlen(own);
        if (used + 1 + length > room) {
            memcpy(text + used, "...", sizeof "...");
            return;
        }
        if (i > 0)
            text[used++] = '|';
        memcpy(text + used, own, length + 1);
        used += length;
    }
}

static void take_metric(const struct metric *m, struct launch_result *result,
                        const struct rank_record *records, int ranks)
{
    const struct field *field = field_get(m->field);
    char *to = (char *)result + m->offset;
    const char *first = first_line(records, ranks, field->line);
    if (m->type != CSV_TEXT)
        *(double *)to = number_of(m, records, ranks);
    else if (m->over_ranks == LIST)
        list_texts(to, m->size, records, ranks, field);
    else if (first != NULL)
        strcpy(to, first + field->offset);
}

void launch_take_hello(struct launch_result *result, const struct launch_result *other)
{
    for (int i = 0; i < METRICS; i++)
        if (field_get(metrics[i].field)->line == RECORD_hello)
            memcpy((char *)result + metrics[i].offset, (const char *)other + metrics[i].offset,
                   metrics[i].size);
    result->bound[0] = result->stage_layers[0] = '\0';
    result->read_s = NAN;
    result->flops_per_image = other->flops_per_image;
    result->flops_done_per_image = other->flops_done_per_image;
    snprintf(result->cpus, sizeof result->cpus, "%s", other->cpus);
}

const char *launch_common(const struct launch_result *result, size_t i, const char **name)
{
    for (int k = 0; k < METRICS; k++) {
        const struct field *field = field_get(metrics[k].field);
        if ((field->flags & FIELD_IDENTITY) == 0 || i-- > 0)
            continue;
        *name = field->name;
        return (const char *)result + metrics[k].offset;
    }
    return NULL;
}

/* ---- Waiting ---- */

/* Each rank's total waiting time in the timed steps, and the number of these steps in which the
 * rank arrived last. */
struct waits {
    size_t *surely, *perhaps; /* [ranks] number of steps in which the rank was surely last;
                                 `perhaps` also counts uncertain steps */
    double *wait_ns;
};

/* Joins one number per rank, as "0.1|20.3", up to the first unknown number. If there are more than
 * RANK_WAITS ranks, the list ends with "...". */
static void list_numbers(char text[1024], const double values[RANK_WAITS], int ranks,
                         char *(*format)(char text[TEXT_NUMBER], double x))
{
    char number[TEXT_NUMBER];
    text[0] = '\0';
    for (int i = 0; i < ranks && i < RANK_WAITS && !isnan(values[i]); i++)
        list_add(text, 1024, "|", format(number, values[i]));
    if (ranks > RANK_WAITS && text[0] != '\0')
        list_add(text, 1024, "|", "...");
}

void launch_list_waits(struct launch_result *result, int ranks)
{
    list_numbers(result->rank_wait_ms, result->rank_waits, ranks, text_real);
}

/* Counts each rank that may have arrived last in a step as `perhaps` last. If only one rank may
 * have arrived last, also counts it as `surely` last. */
static void count_last(const struct waits *waits, const struct arrivals *a)
{
    int last = -1, candidates = 0;
    for (int i = 0; i < a->ranks; i++)
        if (arrivals_may_be_last(a, i)) {
            waits->perhaps[i]++;
            candidates++;
            last = i;
        }
    if (candidates == 1)
        waits->surely[last]++;
}

/* Adds the waiting times of all timed steps to `waits`. Also counts in `waits` how often each rank
 * surely or perhaps arrived last. Returns the number of timed steps in which all arrivals are
 * known. */
static size_t count_arrivals(const struct waits *waits, const struct rank_record *records,
                             int ranks)
{
    size_t known = 0;
    for (size_t k = 0; k < records[0].steps.n; k++) {
        struct arrivals a = records_arrivals(records, ranks, true, k);
        known += a.known;
        count_last(waits, &a);
        for (int i = 0; i < ranks; i++)
            waits->wait_ns[i] += arrivals_wait_ns(&a, i);
    }
    return known;
}

/* Sets the mean waiting time per step, over all ranks and of each rank. error_ns: error of the
 * clocks. The mean over all ranks stays unknown if it is below error_ns. The ranks' own times stay
 * unknown if the longest one is below error_ns. */
static void take_waits(struct launch_result *result, const struct waits *waits, int ranks,
                       size_t steps, double error_ns)
{
    double sum = 0, longest = 0;
    for (int i = 0; i < ranks; i++) {
        sum += waits->wait_ns[i];
        longest = fmax(longest, waits->wait_ns[i] / (double)steps);
    }
    double mean = sum / (double)steps / ranks;
    if (!(mean < error_ns))
        result->wait_ms = mean / 1e6;
    if (longest < error_ns)
        return;
    for (int i = 0; i < ranks && i < RANK_WAITS; i++)
        result->rank_waits[i] = waits->wait_ns[i] / (double)steps / 1e6;
    launch_list_waits(result, ranks);
}

/* Returns the rank that surely arrived last in the most steps. -1: none did, or another rank may
 * have arrived last in at least as many steps. */
static int most_often_last(const struct waits *waits, int ranks)
{
    int last = votes_largest(waits->surely, ranks);
    for (int i = 0; i < ranks && last >= 0; i++)
        if (i != last && waits->perhaps[i] >= waits->surely[last])
            return -1;
    return last;
}

static enum status take_arrivals(struct launch_result *result, struct waits *waits,
                                 const struct rank_record *records, int ranks, struct error *e)
{
    size_t steps = records[0].steps.n;
    double error_ns = records_clock_error_ns(records, ranks);
    TRY(MEM_NEW(waits->surely, 2 * (size_t)ranks, "the ranks' waits", e));
    TRY(MEM_NEW(waits->wait_ns, (size_t)ranks, "the ranks' waits", e));
    waits->perhaps = waits->surely + ranks;
    size_t known = count_arrivals(waits, records, ranks);
    if (!isnan(error_ns) && steps > 0)
        take_waits(result, waits, ranks, steps, known > 0 ? error_ns : 0);
    int last = most_often_last(waits, ranks);
    result->last_rank = last;
    if (last >= 0)
        result->last_rank_pct = 100.0 * (double)waits->surely[last] / (double)known;
    return OK;
}

static enum status fill_waits(struct launch_result *result, const struct rank_record *records,
                              int ranks, struct error *e)
{
    struct waits waits = {NULL};
    enum status status = take_arrivals(result, &waits, records, ranks, e);
    free(waits.surely);
    free(waits.wait_ns);
    return status;
}

/* Writes a clock offset (us) with three decimals. Rounding to significant digits would hide small
 * differences, because clocks of hosts may differ by years. */
static char *text_offset(char text[TEXT_NUMBER], double us)
{
    return text_fixed(text, us, 3);
}

/* Sets the clock offset and drift of each rank relative to rank 0, if all ranks recorded them. Both
 * are 0 for ranks that share rank 0's clock. */
static void fill_clocks(struct launch_result *result, const struct rank_record *records, int ranks)
{
    double offsets_us[RANK_WAITS], drifts_ppm[RANK_WAITS];
    for (int i = 0; i < ranks; i++)
        if (!records[i].clock.told)
            return;
    for (int i = 0; i < ranks && i < RANK_WAITS; i++) {
        offsets_us[i] = records[i].clock.line.begin.offset_ns / 1e3;
        drifts_ppm[i] = 1e6 * clock_line_drift(&records[i].clock.line);
    }
    list_numbers(result->clock_offset_us, offsets_us, ranks, text_offset);
    list_numbers(result->clock_drift_ppm, drifts_ppm, ranks, text_real);
    result->clock_error_us = records_clock_error_ns(records, ranks) / 1e3;
}

/* ---- Values from several fields ---- */

/* Returns the number of steps in an epoch; a smaller last batch is a fraction of a step. NAN: not
 * recorded. */
static double epoch_steps(const struct rank_record *records)
{
    const struct record_hello *hello = &records[0].hello;
    bool told = hello->train_images > 0 && hello->global_batch > 0;
    return told ? (double)hello->train_images / (double)hello->global_batch : NAN;
}

/* Sets the step and epoch time of the slowest rank, and the ranks' mean processor time minus
 * polling (% of wall time). The percentage is unknown if polling, measured as wall time, exceeds a
 * rank's processor time. */
static void fill_times(struct launch_result *result, const struct rank_record *records, int ranks)
{
    double slowest_ns = 0, cpu = 0;
    for (int i = 0; i < ranks; i++) {
        const struct record_end *end = &records[i].end;
        double useful_ns = (double)end->window_cpu_ns - (double)end->poll_ns;
        slowest_ns = fmax(slowest_ns, (double)end->window_ns);
        cpu += useful_ns < 0 ? NAN : useful_ns / (double)end->window_ns;
    }
    if (result->steps > 0) {
        result->step_ms = slowest_ns / result->steps / 1e6;
        result->epoch_timed_s = epoch_steps(records) * result->step_ms / 1e3;
        result->cpu_pct = 100 * cpu / ranks;
    }
}

/* Sets the pipeline's bubble (%): the time that ranks wait for other stages, as a share of the time
 * that ranks wait, load or compute. */
static void fill_bubble(struct launch_result *result, const struct rank_record *records, int ranks)
{
    double waited_ns = 0, computed_ns = 0;
    for (int i = 0; i < ranks; i++) {
        const struct record_step *steps = records[i].steps.items;
        for (size_t k = 0; k < records[i].steps.n; k++) {
            waited_ns += (double)steps[k].bubble_ns;
            computed_ns += (double)(steps[k].load_ns + steps[k].forward_ns + steps[k].backward_ns);
        }
    }
    if (records[0].hello.stage_layers[0] != '\0' && computed_ns > 0)
        result->bubble_pct = 100 * waited_ns / (waited_ns + computed_ns);
}

static void take_verdict(struct launch_result *result, const struct record_end *end)
{
    result->weights_checked &= end->weights_equal != VERDICT_UNKNOWN;
    result->weights_equal &= end->weights_equal == VERDICT_TRUE;
    if (result->first_difference[0] == '\0')
        strcpy(result->first_difference, end->first_difference);
    if (end->diverged[0] != '\0' && !(end->diverged_step >= result->diverged_step)) {
        result->diverged_step = end->diverged_step;
        strcpy(result->diverged, end->diverged);
    }
}

/* Sets the results that ranks recorded at their end: number of steps, processor time of all ranks
 * since process start, largest memory and memory growth of a rank (both without the data set),
 * equality of weights, and divergence. */
static void fill_ends(struct launch_result *result, const struct rank_record *records, int ranks)
{
    result->total_user_s = result->total_sys_s = 0;
    result->all_steps = (double)records[0].end.steps;
    result->weights_checked = result->weights_equal = 1;
    for (int i = 0; i < ranks; i++) {
        const struct record_end *end = &records[i].end;
        double memory_mib = end->rss_mib - end->data_mib;
        result->total_user_s += end->user_s;
        result->total_sys_s += end->sys_s;
        result->memory_mib = fmax(result->memory_mib, memory_mib);
        result->growth_mib = fmax(result->growth_mib, memory_mib - end->libraries_mib);
        take_verdict(result, end);
    }
}

/* Sets the FLOPs per image, and whether compute was real or replayed. A record without the field
 * `compute` means real compute. */
static void fill_work(struct launch_result *result, const struct record_hello *hello)
{
    strcpy(result->compute, hello->compute[0] != '\0' ? hello->compute : "real");
    result->flops_per_image = (double)(hello->flops_forward + hello->flops_backward);
    result->flops_done_per_image = hello->flops_done_forward + hello->flops_done_backward;
}

bool launch_is_replayed(const struct launch_result *result)
{
    return strcmp(result->compute, "replayed") == 0;
}

static bool share_host(const struct rank_record *a, const struct rank_record *b)
{
    return strcmp(a->hello.host, b->hello.host) == 0;
}

static bool share_cpu(const struct rank_record *a, const struct rank_record *b)
{
    return strcmp(a->hello.cpu, b->hello.cpu) == 0;
}

/* Returns whether rank i is the lowest rank on its node, on its machine or with its processor
 * model, depending on `share`. */
static bool is_first(const struct rank_record *records, int i,
                     bool (*share)(const struct rank_record *a, const struct rank_record *b))
{
    int first = 0;
    while (first < i && !share(&records[first], &records[i]))
        first++;
    return first == i;
}

/* Sets the numbers of nodes and machines, the most ranks on a node, and the lists of nodes and
 * processor models. */
static void fill_nodes(struct launch_result *result, const struct rank_record *records, int ranks)
{
    result->nodes = result->ranks_per_node = result->machines = 0;
    for (int i = 0; i < ranks; i++) {
        int on_node = 0;
        for (int k = 0; k < ranks; k++)
            on_node += share_host(&records[k], &records[i]);
        result->ranks_per_node = fmax(result->ranks_per_node, on_node);
        result->machines += is_first(records, i, records_share_machine);
        if (records[i].hello.cpu[0] != '\0' && is_first(records, i, share_cpu))
            text_join(result->cpus, sizeof result->cpus, CPUS_JOINED_BY, records[i].hello.cpu);
        if (!is_first(records, i, share_host))
            continue;
        result->nodes++;
        list_add(result->node_list, sizeof result->node_list, " ", records[i].hello.host);
    }
}

bool launch_is_mixed(const struct launch_result *result)
{
    return strstr(result->cpus, CPUS_JOINED_BY) != NULL;
}

/* Sets the network traffic per step of rank 0's node, and the largest traffic of any other node.
 * Each rank recorded the counters of its own node. */
static void fill_traffic(struct launch_result *result, const struct rank_record *records, int ranks)
{
    for (int i = 0; i < ranks; i++) {
        const struct record_end *end = &records[i].end;
        bool root = strcmp(records[i].hello.host, records[0].hello.host) == 0;
        double steps = (double)end->timed_steps;
        const double counts[TRAFFIC_COUNTS] = {
            [TRAFFIC_RX_BYTES] = end->bytes_nic_received / steps,
            [TRAFFIC_RX_PACKETS] = end->packets_nic_received / steps,
            [TRAFFIC_TX_BYTES] = end->bytes_nic / steps,
            [TRAFFIC_TX_PACKETS] = end->packets_nic_sent / steps,
        };
        if (steps > 0 && (!root || i == 0))
            resources_add_traffic(result, root, counts);
    }
}

/* Sets the energy per step and per epoch of all machines' processor packages, and the images per
 * joule. Emulated hosts measure the same packages, so only a machine's first rank counts. */
static void fill_energy(struct launch_result *result, const struct rank_record *records, int ranks)
{
    double energy_j = 0, images = (double)records[0].hello.global_batch;
    for (int i = 0; i < ranks; i++)
        if (is_first(records, i, records_share_machine))
            energy_j += records[i].end.energy_j;
    if (!(energy_j > 0) || !(result->steps > 0))
        return;
    result->energy_step_j = energy_j / result->steps;
    result->energy_epoch_j = epoch_steps(records) * result->energy_step_j;
    result->images_per_j = images > 0 ? images / result->energy_step_j : NAN;
}

/* Returns the time of epoch k on the slowest rank (s). Some workloads record epochs on rank 0
 * only. */
static double epoch_seconds(const struct rank_record *records, int ranks, size_t k)
{
    double slowest = NAN;
    for (int i = 0; i < ranks; i++) {
        const struct record_epoch *epochs = records[i].epochs.items;
        if (k < records[i].epochs.n)
            slowest = fmax(slowest, epochs[k].seconds);
    }
    return slowest;
}

static enum status fill_epochs(struct launch_result *result, const struct rank_record *records,
                               int ranks, struct error *e)
{
    double *seconds;
    size_t n = 0;
    for (int i = 0; i < ranks; i++)
        n = records[i].epochs.n > n ? records[i].epochs.n : n;
    TRY(MEM_NEW(seconds, n, "the epochs of a launch", e));
    for (size_t k = 0; k < n; k++)
        seconds[k] = epoch_seconds(records, ranks, k);
    result->epoch_s = stats_median(seconds, n);
    free(seconds);
    return OK;
}

double launch_noise_scale(double variance, double norm2)
{
    return variance > 0 && norm2 > 0 ? variance / norm2 : NAN;
}

/* Sets the noise scale: the gradients' variance over their squared norm, each summed over epochs
 * first. The mean of the ratios of single epochs would be biased. */
static void fill_noise_scale(struct launch_result *result, const struct rank_record *records,
                             int ranks)
{
    const struct rank_record *r = records;
    while (r < records + ranks - 1 && r->epochs.n == 0)
        r++;
    const struct record_epoch *epochs = r->epochs.items;
    double variance = 0, norm2 = 0;
    for (size_t k = 0; k < r->epochs.n; k++) {
        if (isnan(epochs[k].grad_variance) || isnan(epochs[k].grad_norm2))
            continue;
        variance += epochs[k].grad_variance;
        norm2 += epochs[k].grad_norm2;
    }
    result->noise_scale = launch_noise_scale(variance, norm2);
}

/* Sets the number of epochs and images, and the time, that training needed to reach the target
 * accuracy for the first time. */
static void fill_target(struct launch_result *result, const struct rank_record *records, int ranks)
{
    const struct rank_record *r = records;
    while (r < records + ranks - 1 && r->epochs.n == 0)
        r++;
    const struct record_epoch *epochs = r->epochs.items;
    const struct record_eval *evals = r->evals.items;
    double seconds = 0, images = 0;
    for (size_t k = 0; k < r->epochs.n && k < r->evals.n; k++) {
        seconds += epoch_seconds(records, ranks, k);
        images += epochs[k].samples > 0 ? (double)epochs[k].samples : NAN;
        if (!(evals[k].test_acc_pct >= result->target_acc_pct))
            continue;
        result->to_target_epochs = (double)k + 1;
        result->to_target_images = images;
        result->to_target_s = seconds;
        return;
    }
}

/* Sets the trend, 95th percentile and maximum of the step time over steps. A step takes as long as
 * its slowest rank. */
static enum status fill_steps(struct launch_result *result, const struct rank_record *records,
                              int ranks, struct error *e)
{
    double *times;
    size_t n = records[0].steps.n;
    TRY(MEM_NEW(times, n, "the steps of a launch", e));
    for (int i = 0; i < ranks; i++) {
        const struct record_step *steps = records[i].steps.items;
        for (size_t k = 0; k < n && k < records[i].steps.n; k++)
            times[k] = fmax(times[k], (double)(steps[k].end_ns - steps[k].begin_ns));
    }
    struct trend trend = homogeneity_trend(times, n);
    result->trend_tau = trend.tau;
    result->trend_pct = 100 * trend.change;
    result->step_p95_ms = stats_quantile(times, n, 0.95) / 1e6;
    result->step_max_ms = stats_quantile(times, n, 1) / 1e6;
    free(times);
    return OK;
}

void launch_clear(struct launch_result *result)
{
    *result = (struct launch_result){
#define UNKNOWN_TEXT                              ""
#define UNKNOWN_INT                               NAN
#define UNKNOWN_REAL                              NAN
#define UNKNOWN_BOOL                              -1
#define METRIC(id, type, ...)                     .id = UNKNOWN_##type,
#define RESULT(id, type, unit, launches, meaning) .id = UNKNOWN_##type,
#include "bench/record/metrics.def"
    };
    for (int i = 0; i < RANK_WAITS; i++)
        result->rank_waits[i] = NAN;
}

static enum status fill_result(struct launch_result *result, const struct rank_record *records,
                               int ranks, struct error *e)
{
    launch_clear(result);
    for (int i = 0; i < METRICS; i++)
        take_metric(&metrics[i], result, records, ranks);
    fill_times(result, records, ranks);
    fill_bubble(result, records, ranks);
    fill_ends(result, records, ranks);
    fill_work(result, &records[0].hello);
    fill_nodes(result, records, ranks);
    fill_clocks(result, records, ranks);
    resources_take_cores(result, records, ranks);
    fill_traffic(result, records, ranks);
    fill_energy(result, records, ranks);
    fill_target(result, records, ranks);
    fill_noise_scale(result, records, ranks);
    TRY(fill_waits(result, records, ranks, e));
    TRY(fill_steps(result, records, ranks, e));
    return fill_epochs(result, records, ranks, e);
}

void launch_diverged_text(char *text, size_t size, const struct launch_result *result)
{
    snprintf(text, size, "%s at step %.0f", result->diverged, result->diverged_step);
}

enum status launch_read(const char *dir, int ranks, struct launch_result *result, struct error *e)
{
    struct rank_record *records;
    enum status status = records_read(&records, dir, ranks, e);
    THEN(status, fill_result(result, records, ranks, e));
    if (status == OK)
        resources_take_traffic(result, dir, records, ranks);
    records_free(records, ranks);
    return status;
}
