/* Values that leave a strategy without effect, or two of an axis alike. */
#include <math.h>

#include "bench/spec/matrix.h"
#include "bench/spec/points/points.h"
#include "bench/spec/value.h"

/* ---- ZeRO 3 that shares no parameters ---- */

/* Whether a tensor of the network is large enough to be shared. */
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
                      "%s: %s would share no parameters: no tensor of the network has more than "
                      "sync.zero_persist = %s of them. Use sync.zero_persist: 0",
                      option_get(by)->key, config_text(last, by),
                      config_text(last, OPT_sync_zero_persist));
}

/* ---- Nodes of hierarchical and leader ---- */

static double node_size(const struct config *config, double asked)
{
    return fmin(asked > 0 ? asked : config_number(config, OPT_RANKS_PER_NODE),
                config_number(config, OPT_RANKS));
}

/* Whether both values make the same nodes at every point that reads them. */
static bool make_same_nodes(const struct spec *spec, double a, double b)
{
    for (size_t i = 0; i < spec->n_points; i++) {
        const struct config *config = &spec->points[i].config;
        if (config_uses(config, OPT_sync_node_ranks) &&
            node_size(config, a) != node_size(config, b))
            return false;
    }
    return true;
}

static enum status check_nodes(const struct matrix *of, const struct spec *spec, struct error *e)
{
    const struct axis *axis = matrix_axis(of, OPT_sync_node_ranks);
    bool open = owned_is_open(spec, OPT_RANKS);
    for (size_t i = 1; axis != NULL && i < axis->n && (!open || axis->open); i++)
        for (size_t k = 0; k < i; k++)
            if (make_same_nodes(spec, axis->values[i].number, axis->values[k].number))
                return mark_error(e, ERR_SPEC, axis->values[i].mark,
                                  "sync.node_ranks = %s makes the same nodes as %s at every point. "
                                  "Leave one of the two out",
                                  axis->values[i].text, axis->values[k].text);
    return OK;
}

enum status unused_check(const struct spec *spec, struct error *e)
{
    const struct matrix *all = spec->matrix;
    if (spec->is_recorded)
        return OK;
    TRY(check_zero3(spec, e));
    TRY(check_nodes(all, spec, e));
    for (size_t i = 0; i < all->n_cases; i++)
        TRY(check_nodes(&all->cases[i], spec, e));
    return OK;
}
