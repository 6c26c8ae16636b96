/* Rejects specs in which ZeRO stage 3 would shard no parameters. Also rejects an axis of
 * sync.node_ranks or data.samples if two of its values have the same effect. */
#include <math.h>

#include "bench/spec/matrix.h"
#include "bench/spec/points/points.h"
#include "bench/spec/value.h"

/* ---- ZeRO 3 that shards no parameters ---- */

/* Returns whether any tensor of the network is large enough for ZeRO stage 3 to shard it. */
static bool shares_parameters(const struct point *point)
{
    const struct net_desc *net = &point->net->net;
    double most = config_number(&point->config, OPT_sync_zero_persist);
    bool found = false;
    for (int i = 0; i < net->n_tensors; i++)
        found = found || (double)net->tensors[i].count > most;
    return found;
}

static bool has_zero3(const struct point *point)
{
    return point->net != NULL && config_uses(&point->config, OPT_sync_zero_persist) &&
           config_int(&point->config, OPT_RANKS) > 1;
}

static enum status check_zero3(const struct spec *spec, struct error *e)
{
    const struct config *last = NULL;
    enum option_id by = OPT_STRATEGY;
    for (size_t i = 0; i < spec->n_points; i++) {
        if (!has_zero3(&spec->points[i]))
            continue;
        if (shares_parameters(&spec->points[i]))
            return OK;
        last = &spec->points[i].config;
    }
    if (last != NULL && config_int(last, OPT_sync_zero) > 0)
        by = OPT_sync_zero;
    if (last == NULL || spec_option_is_open(spec, OPT_MODEL) ||
        owned_is_of_base(spec, last->values[by].mark))
        return OK;
    return mark_error(e, ERR_SPEC, last->values[by].mark,
                      "%s = %s would shard no parameters, since no tensor of the network has more "
                      "than sync.zero_persist = %s parameters. Use sync.zero_persist: 0",
                      option_get(by)->key, config_text(last, by),
                      config_text(last, OPT_sync_zero_persist));
}

/* ---- Values of an axis that do the same ---- */

static double node_size(const struct config *config, double asked)
{
    return fmin(asked > 0 ? asked : config_number(config, OPT_RANKS_PER_NODE),
                config_number(config, OPT_RANKS));
}

static double image_count(const struct config *config, double asked)
{
    return asked > 0 ? asked : (double)config_data_set(config)->train;
}

/* Options for which two different values may have the same effect. `amount` maps a value to its
 * effect, which also depends on option `by`. */
static const struct same {
    enum option_id id, by;
    double (*amount)(const struct config *config, double asked);
    const char *does;
} sames[] = {
    {OPT_sync_node_ranks, OPT_RANKS, node_size, "makes the same nodes"},
    {OPT_DATA_SAMPLES, OPT_DATA_SET, image_count, "uses the same images"},
};

/* Returns whether values `a` and `b` have the same effect at every point that reads the option. */
static bool do_same(const struct same *same, const struct spec *spec, double a, double b)
{
    for (size_t i = 0; i < spec->n_points; i++) {
        const struct config *config = &spec->points[i].config;
        if (config_uses(config, same->id) && same->amount(config, a) != same->amount(config, b))
            return false;
    }
    return true;
}

static enum status check_same(const struct same *same, const struct matrix *of,
                              const struct spec *spec, struct error *e)
{
    const struct axis *axis = matrix_axis(of, same->id);
    bool open = owned_is_open(spec, same->by);
    for (size_t i = 1; axis != NULL && i < axis->n && (!open || axis->open); i++)
        for (size_t k = 0; k < i; k++)
            if (do_same(same, spec, axis->values[i].number, axis->values[k].number))
                return mark_error(e, ERR_SPEC, axis->values[i].mark,
                                  "%s = %s %s as %s at every point. Leave one of the two out",
                                  option_get(same->id)->key, axis->values[i].text, same->does,
                                  axis->values[k].text);
    return OK;
}

enum status unused_check(const struct spec *spec, struct error *e)
{
    const struct matrix *all = spec->matrix;
    if (spec->is_recorded)
        return OK;
    TRY(check_zero3(spec, e));
    for (size_t i = 0; i < sizeof sames / sizeof *sames; i++) {
        TRY(check_same(&sames[i], all, spec, e));
        for (size_t k = 0; k < all->n_cases; k++)
            TRY(check_same(&sames[i], &all->cases[k], spec, e));
    }
    return OK;
}
