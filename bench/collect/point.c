/* Values that follow from a point's options, and predicates on a point's status and flags. */
#include <math.h>
#include <string.h>

#include "bench/collect/summary.h"
#include "comm/cost/cost.h"

int point_cores(const struct point *point)
{
    return (int)config_int(&point->config, OPT_RANKS) * config_cores_per_rank(&point->config);
}

int point_ranks_per_node(const struct point *point)
{
    long ranks = config_int(&point->config, OPT_RANKS);
    long nodes = config_int(&point->config, OPT_NODES);
    return (int)((ranks + nodes - 1) / nodes);
}

int point_cores_of_node(const struct point *point)
{
    bool shared = config_site(&point->config)->shares_cores;
    int ranks = shared ? (int)config_int(&point->config, OPT_RANKS) : point_ranks_per_node(point);
    return ranks * config_cores_per_rank(&point->config);
}

int point_is_oversubscribed(const struct point *point, int usable_cores)
{
    if (config_int(&point->config, OPT_OVERSUBSCRIBE) == OVERSUBSCRIBE_refuse ||
        config_replays(&point->config))
        return 0;
    if (usable_cores <= 0)
        return -1;
    return point_cores_of_node(point) > usable_cores;
}

/* Returns the flags of the point's strategy, masked by `of`; 0 for a user's program. */
static unsigned strategy_flags_of(const struct point *point, unsigned of)
{
    enum strategy_variant variant;
    struct error e;
    enum strategy_kind kind = config_strategy_kind(&point->config);
    bool known =
        !config_is_foreign(&point->config) && config_variant(&point->config, &variant, &e) == OK;
    return known ? strategy_config_flags(kind, variant) & of : 0;
}

bool point_is_replicated(const struct point *point)
{
    return strategy_flags_of(point, STRATEGY_EXACT | STRATEGY_REPLICATED | STRATEGY_AVERAGED) != 0;
}

bool point_compares_steps(const struct point *point)
{
    return strategy_flags_of(point, STRATEGY_AVERAGED) == 0;
}

bool point_has_option(const struct point *point, enum option_id option)
{
    return !config_is_foreign(&point->config) || option == OPT_THREADS ||
           !scope_is_workload(option_get(option)->scope);
}

bool point_lacks_seeds(const struct point_summary *p)
{
    return p->seeds > 0 && strstr(p->flags, "seeds_missing") != NULL;
}

void point_take(struct point_summary *p, const struct spec *spec, size_t i)
{
    p->point = &spec->points[i];
    p->base = p->point->base_index;
    p->peer = i;
    for (size_t w = WORKLOADS; w-- > 0;)
        p->peer = p->point->peers[w] != i ? p->point->peers[w] : p->peer;
    p->alone = spec->points[i].silent_index;
    p->cores = point_cores(p->point);
    p->timed = spec->config.values[OPT_TIME_LAUNCHES].number_hi > 0;
    bool foreign = config_is_foreign(&p->point->config);
    p->compute_only = !foreign && config_int(&p->point->config, OPT_STRATEGY) == STRATEGY_none &&
                      config_int(&p->point->config, OPT_RANKS) > 1;
    p->seeds =
        config_wants_accuracy(&p->point->config) ? spec->config.values[OPT_ACCURACY_SEEDS].n : 0;
}

const char *const *point_status_names(void)
{
    static const char *const names[] = {
#define POINT_STATUS(id, fails, meaning) #id,
#include "bench/collect/point_status.def"
    };
    return names;
}

bool summary_fails(const struct summary *s, size_t point)
{
    static const int fails[] = {
#define POINT_STATUS(id, fails, meaning) fails,
#include "bench/collect/point_status.def"
    };
    const struct point_summary *p = &s->points[point];
    bool bounded = s->spec->config.values[OPT_ACCURACY_MIN].text[0] && !p->compute_only;
    return fails[p->outcome] == 1 || (fails[p->outcome] == 2 && bounded);
}

bool point_is_busy(const struct point_summary *p)
{
    return p->launches > 0 && p->foreign_pct > SUMMARY_BUSY_PCT;
}

bool point_was_measured(const struct point_summary *p)
{
    return p->launches > 0 || isfinite(p->accuracy.test_acc_pct.mid);
}

bool point_is_timed_base(const struct point_summary *p)
{
    return p->point->base && p->launches > 0 && p->outcome != POINT_diverged;
}

bool point_is_scaled(const struct point_summary *p, const struct summary *s)
{
    return !p->compute_only && isfinite(p->scaling.efficiency.mid) &&
           p->cores > s->points[p->base].cores;
}

size_t summary_count(const struct summary *s, bool (*has)(const struct point_summary *))
{
    size_t n = 0;
    for (size_t i = 0; i < s->n; i++)
        n += has(&s->points[i]);
    return n;
}
