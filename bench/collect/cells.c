/* Fills a point's row of summary.csv. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench/collect/lists.h"
#include "bench/collect/summary.h"
#include "kernels/base/mem.h"

struct cells {
    char **cells;
    bool no_memory;
};

static void set_text(struct cells *c, enum column_id id, const char *text)
{
    free(c->cells[id]);
    c->cells[id] = strdup(text);
    if (c->cells[id] != NULL)
        text_clean(c->cells[id]);
    else
        c->no_memory = true;
}

static void set_real(struct cells *c, enum column_id id, double x)
{
    char text[TEXT_NUMBER];
    bool whole = column_get(id)->type == CSV_INT;
    set_text(c, id, whole ? text_whole(text, x) : text_real(text, x));
}

/* Writes 0 (false) or 1 (true), and an empty cell for -1 (unknown). */
static void set_bool(struct cells *c, enum column_id id, int value)
{
    set_text(c, id, value < 0 ? "" : value ? "1" : "0");
}

static void set_option(struct cells *c, enum column_id id, const struct point *point,
                       enum option_id option)
{
    if (column_get(id)->type == CSV_TEXT)
        set_text(c, id, config_text(&point->config, option));
    else
        set_real(c, id, config_number(&point->config, option));
}

/* Lists the distinct seeds in the order of their first launches. */
static void list_seeds(char *text, size_t size, const struct samples *samples)
{
    for (size_t i = 0; i < samples->n; i++) {
        uint64_t seed = samples->items[i].journal->seed;
        char number[32];
        size_t first = 0;
        while (samples->items[first].journal->seed != seed)
            first++;
        snprintf(number, sizeof number, "%llu", (unsigned long long)seed);
        if (first == i)
            list_add(text, size, " ", number);
    }
}

static void fill_seed(struct cells *c, const struct point *point, const struct point_samples *all)
{
    char seeds[512] = "";
    list_seeds(seeds, sizeof seeds, all->accuracy.n ? &all->accuracy : &all->time);
    set_text(c, COLUMN_seed, seeds[0] ? seeds : config_text(&point->config, OPT_SEED));
}

/* Returns the name of the strategy's variant: sync.variant, or the strategy's default variant. */
static const char *variant_of(const struct point *point)
{
    enum strategy_kind strategy = config_strategy_kind(&point->config);
    const char *name = config_text(&point->config, OPT_VARIANT);
    return strategy_variant_name(strategy_variant_find(strategy, name));
}

static const struct {
    enum column_id column;
    enum option_id option;
} options[] = {
#define COLUMN(id, type, unit, meaning)
#define PLACE(id)
#define PLACE_AS(id, meaning)
#define OPTION(id, type, unit, option, meaning) {COLUMN_##id, OPT_##option},
#include "bench/collect/columns/summary.def"
#undef COLUMN
#undef PLACE
#undef PLACE_AS
};

enum option_id column_option(const char *name)
{
    enum column_id column = column_find(name);
    for (size_t i = 0; i < sizeof options / sizeof *options; i++)
        if (options[i].column == column)
            return options[i].option;
    return OPTION_COUNT;
}

/* Writes the options of a user's program at this point (workload.options), such as "method=fast
 * size=1000". */
static void fill_own(struct cells *c, const struct config *config)
{
    char text[1024] = "", own[sizeof text];
    for (size_t i = 0; config->own != NULL && i < config->own->n; i++)
        if (config->values[OPT_OWN + i].set) {
            snprintf(own, sizeof own, "%s=%s", key_end(config->own->keys[i]),
                     config->values[OPT_OWN + i].text);
            text_join(text, sizeof text, " ", own);
        }
    set_text(c, COLUMN_workload_options, text);
}

static void fill_options(struct cells *c, const struct spec *spec, const struct point *point)
{
    bool foreign = config_is_foreign(&point->config);
    for (size_t i = 0; i < sizeof options / sizeof *options; i++)
        if (point_has_option(point, options[i].option))
            set_option(c, options[i].column, point, options[i].option);
    set_text(c, COLUMN_spec, config_text(&spec->config, OPT_NAME));
    set_text(c, COLUMN_point, point->id);
    set_text(c, COLUMN_kind, config_kind(&point->config));
    set_text(c, COLUMN_compute, config_replays(&point->config) ? "replayed" : "real");
    set_text(c, COLUMN_case_name, point->case_name);
    set_text(c, COLUMN_label, point->label);
    set_text(c, COLUMN_site, config_text(&point->config, OPT_SITE));
    set_real(c, COLUMN_ranks_per_node, point_ranks_per_node(point));
    set_bool(c, COLUMN_base, point->base);
    fill_own(c, &point->config);
    if (foreign)
        return;
    set_text(c, COLUMN_sync_variant, variant_of(point));
    set_text(c, COLUMN_overlap, overlap_names()[config_overlap(&point->config)]);
    set_real(c, COLUMN_global_batch, config_images(&point->config));
}

/* ---- Columns of metrics.def ---- */

enum over_launches { NONE, FIRST, MAX, MEDIAN, EITHER, SEEDS };

static const struct metric {
    enum column_id column;
    enum over_launches over_launches;
    size_t offset; /* offset of the metric, a double or a text, in struct launch_result */
} metrics[] = {
#define METRIC(id, type, unit, line, field, kind, flags, ranks, launches, meaning)                 \
    RESULT(id, type, unit, launches, meaning)
#define RESULT(id, type, unit, launches, meaning)                                                  \
    IN_SUMMARY_##launches({COLUMN_##id, launches, offsetof(struct launch_result, id)}, )
#include "bench/record/metrics.def"
};

static double largest(const struct samples *samples, size_t offset)
{
    double largest = NAN;
    for (size_t i = 0; i < samples->n; i++)
        largest = fmax(largest, sample_number(&samples->items[i], offset));
    return largest;
}

static double number_of(const struct metric *m, const struct point_samples *all)
{
    const struct samples *either = all->time.n > 0 ? &all->time : &all->accuracy;
    switch (m->over_launches) {
    case MAX:
        return largest(either, m->offset);
    case MEDIAN:
        return samples_median(&all->time, m->offset);
    case EITHER:
        return samples_median(either, m->offset);
    case SEEDS:
        return samples_median(&all->accuracy, m->offset);
    default:
        return sample_number(&either->items[0], m->offset);
    }
}

static void fill_metrics(struct cells *c, const struct point_samples *all)
{
    const struct samples *either = all->time.n > 0 ? &all->time : &all->accuracy;
    for (size_t i = 0; i < sizeof metrics / sizeof *metrics && either->n > 0; i++) {
        const struct metric *m = &metrics[i];
        if (column_get(m->column)->type == CSV_TEXT)
            set_text(c, m->column, (const char *)either->items[0].result + m->offset);
        else
            set_real(c, m->column, number_of(m, all));
    }
}

/* ---- Columns from several metrics ---- */

/* Returns whether the waiting time at `offset` of struct launch_result is known in every launch.
 * Waits below clock_error_us are unknown, so a median over the other launches would be too
 * large. */
static bool all_know_waits(const struct samples *time, size_t offset)
{
    for (size_t i = 0; i < time->n; i++)
        if (isnan(sample_number(&time->items[i], offset)))
            return false;
    return true;
}

static void fill_waits(struct cells *c, const struct samples *time)
{
    char text[1024] = "", number[TEXT_NUMBER];
    int ranks = time->n > 0 ? (int)time->items[0].result->ranks : 0;
    if (!all_know_waits(time, offsetof(struct launch_result, wait_ms)))
        set_text(c, COLUMN_wait_ms, "");
    if (!all_know_waits(time, offsetof(struct launch_result, rank_waits)))
        ranks = 0;
    for (int rank = 0; rank < ranks && rank < RANK_WAITS; rank++) {
        size_t offset = offsetof(struct launch_result, rank_waits) + (size_t)rank * sizeof(double);
        double wait_ms = samples_median(time, offset);
        if (isnan(wait_ms))
            break;
        list_add(text, sizeof text, "|", text_real(number, wait_ms));
    }
    set_text(c, COLUMN_rank_wait_ms, text);
}

static void fill_accuracy(struct cells *c, const struct samples *accuracy)
{
    set_real(c, COLUMN_epoch_s_median,
             samples_median(accuracy, offsetof(struct launch_result, epoch_s)));
    size_t n = 0;
    for (size_t i = 0; i < accuracy->n; i++) {
        const struct sample *run = &accuracy->items[i];
        double wall_s = launch_wall_s(run->journal, run->result);
        if (isfinite(wall_s))
            accuracy->values[n++] = wall_s;
    }
    set_real(c, COLUMN_total_s_median, stats_median(accuracy->values, n));
}

static double number_in(const struct point_summary *p, const struct point_number *number)
{
    const char *at = (const char *)p + number->offset;
    if (!number->is_count)
        return *(const double *)at;
    size_t count = *(const size_t *)at;
    return count > 0 ? (double)count : number->none;
}

static void fill_numbers(struct cells *c, const struct point_summary *p,
                         const struct point_summary *base)
{
    size_t n;
    const struct point_number *numbers = point_numbers(&n);
    for (size_t i = 0; i < n; i++)
        set_real(c, numbers[i].column, number_in(p, &numbers[i]));
    if (p->seeds == 0)
        set_text(c, COLUMN_seeds_missing, "");
    set_text(c, COLUMN_disturbed_by, p->noise.disturbed_by);
    set_real(c, COLUMN_ci_level, p->step_ms.level);
    set_real(c, COLUMN_last_rank, p->last.rank >= 0 ? p->last.rank : NAN);
    set_text(c, COLUMN_base_point, base->point->id);
    set_real(c, COLUMN_base_step_ms, base->step_ms.mid);
}

static void fill_peer(struct cells *c, const struct point_summary *p, const struct summary *s)
{
    const struct point_summary *peer = &s->points[p->peer];
    if (peer == p)
        return;
    set_text(c, COLUMN_peer_point, peer->point->id);
    set_option(c, COLUMN_peer_workload, peer->point, OPT_WORKLOAD);
    set_real(c, COLUMN_peer_images_per_s, peer->rates.images_per_s.mid);
    set_real(c, COLUMN_peer_memory_ratio, p->memory.most_mib / peer->memory.most_mib);
    set_real(c, COLUMN_peer_growth_ratio, p->memory.growth_mib / peer->memory.growth_mib);
}

/* Writes whether the ranks' weights were equal in every launch, and when the weights were compared.
 * If a launch did not compare weights, both cells stay empty, except that a difference found in
 * another launch is written. */
static void fill_weights(struct cells *c, const struct point *point,
                         const struct point_samples *all)
{
    const struct samples *both[] = {&all->time, &all->accuracy};
    bool equal = true, step = point_compares_steps(point), looked = both[0]->n + both[1]->n > 0;
    for (size_t b = 0; b < 2; b++)
        for (size_t i = 0; i < both[b]->n; i++) {
            const struct launch_result *result = both[b]->items[i].result;
            equal = equal && (result->weights_equal || !result->weights_checked);
            looked = looked && result->weights_checked;
            step = step && strcmp(result->check, "step") == 0;
        }
    set_bool(c, COLUMN_weights_equal, !equal ? 0 : looked ? 1 : -1);
    set_text(c, COLUMN_weights_compared, !looked ? "" : step ? "step" : "end");
}

/* Writes the link between emulated or simulated hosts. If the point has the default link options,
 * prefers the manifest's link, since the user may have set up hosts with another link (ci/netns.sh
 * exec). */
static void fill_link(struct cells *c, const struct config *config, const struct summary *s)
{
    char text[LINK_BYTES];
    config_link(text, config);
    if (config_site(config)->shares_cores)
        set_text(c, COLUMN_link, config_has_usual_link(config) && s->link[0] ? s->link : text);
}

enum status cells_fill(struct point_summary *p, const struct summary *s,
                       const struct point_samples *all, struct error *e)
{
    struct cells c = {0};
    TRY(MEM_NEW(c.cells, COLUMNS, "a row of the summary", e));
    p->cells = c.cells;
    for (int i = 0; i < COLUMNS; i++)
        set_text(&c, i, "");
    fill_options(&c, s->spec, p->point);
    fill_seed(&c, p->point, all);
    fill_metrics(&c, all);
    fill_waits(&c, &all->time);
    fill_accuracy(&c, &all->accuracy);
    fill_numbers(&c, p, &s->points[p->base]);
    fill_peer(&c, p, s);
    fill_weights(&c, p->point, all);
    set_bool(&c, COLUMN_oversubscribed, point_is_oversubscribed(p->point, s->usable_cores));
    fill_link(&c, &p->point->config, s);
    set_text(&c, COLUMN_status, p->status);
    set_text(&c, COLUMN_reason, p->reason);
    set_text(&c, COLUMN_flags, p->flags);
    return c.no_memory ? error_no_memory(e, "a row of the summary") : OK;
}

void cells_free(char **cells)
{
    for (int i = 0; cells != NULL && i < COLUMNS; i++)
        free(cells[i]);
    free(cells);
}
